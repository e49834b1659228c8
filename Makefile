# `make demo` and `make test` need only Python 3.11 or newer, pip and make: everything else is
# installed into .venv, once, and again when pyproject.toml changes.

PYTHON ?= python3
BIN := .venv/bin
export MPLBACKEND := Agg

.PHONY: demo test test-slow test-browser bench docs images clean

demo: .venv/cli.stamp
	$(BIN)/vicinal demo --force

test: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2

test-slow: .venv/test.stamp
	$(BIN)/pytest -m slow

# Installs Debian's chromium if there is none; screenshots are left in report-screenshots/.
test-browser: .venv/browser.stamp
	command -v chromedriver chromium > /dev/null || \
	    (apt-get update -qq && apt-get install --yes -qq chromium chromium-driver)
	$(BIN)/pytest -m browser tests/browser

bench: .venv/bench.stamp
	$(BIN)/python -m benchmarks graphs

# Pages in build/docs/index.html; a warning is an error. It needs no network.
docs: .venv/docs.stamp
	$(BIN)/sphinx-build -W --keep-going -q docs build/docs

images: .venv/cli.stamp
	$(BIN)/vicinal demo graphs -o docs/images --force

.venv/%.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	touch $@

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

clean:
	rm -rf .venv demo-out report-screenshots build docs/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
