# `make demo` and `make test` need only Python 3.11 or newer, pip and make: everything else is
# installed into .venv, once, and again when pyproject.toml changes.

PYTHON ?= python3
BIN := .venv/bin
export MPLBACKEND := Agg

.PHONY: demo test test-slow test-lowest test-newest test-browser bench dist docs images clean clean-kernels

demo: .venv/cli.stamp
	$(BIN)/vicinal demo --force

test: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2

test-slow: .venv/test.stamp
	$(BIN)/pytest -m slow

# The tests on the lowest versions declared in pyproject.toml (they need Python 3.11 or 3.12), and on the
# newest available. Compiled code is cached separately, because each numba version discards that of others.
test-lowest: .venv-lowest/stamp
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-lowest/numba .venv-lowest/bin/python -m pytest -n 2

test-newest: .venv-newest
	.venv-newest/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager --editable '.[test,dask]'
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-newest/numba .venv-newest/bin/python -m pytest -n 2

.venv-lowest/stamp: pyproject.toml constraints/lowest.txt | .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --constraint constraints/lowest.txt --editable '.[test,dask]'
	touch $@

.venv-lowest .venv-newest:
	$(PYTHON) -m venv $@

# Installs Debian's chromium if it is missing; screenshots are written to report-screenshots/.
test-browser: .venv/browser.stamp
	command -v chromedriver chromium > /dev/null || \
	    (apt-get update -qq && apt-get install --yes -qq chromium chromium-driver)
	$(BIN)/pytest -m browser tests/browser

bench: .venv/bench.stamp
	$(BIN)/python -m benchmarks graphs

# Builds the sdist and the wheel in dist/, checks both, and uses the wheel in an empty environment.
dist: .venv/dist.stamp
	rm -rf dist build/smoke
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(PYTHON) -m venv build/smoke
	build/smoke/bin/python -m pip install --quiet "$$(ls dist/*.whl)[cli]"
	cd build/smoke && bin/vicinal demo --force && bin/vicinal --version

# Writes build/docs/index.html; a warning is an error. It needs no network.
docs: .venv/docs.stamp
	$(BIN)/sphinx-build -W --keep-going -q docs build/docs

images: .venv/cli.stamp
	$(BIN)/python docs/images/front.py

.venv/%.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	touch $@

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

# Compiled kernels, for example after a change of one that kernels in other files call.
clean-kernels:
	find src tests -name '*.nbi' -delete -o -name '*.nbc' -delete

clean:
	rm -rf .venv .venv-lowest .venv-newest dist demo-out study-out report-screenshots build docs/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
