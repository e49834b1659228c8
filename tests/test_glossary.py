"""The glossary has every fitted attribute, and no other."""

import inspect
import re
from pathlib import Path

import pytest

import vicinal

GLOSSARY = Path(__file__).parents[1] / "docs" / "glossary.md"


def documented_attributes():
    """Attributes ending in an underscore in the docstrings of public classes."""
    modules = [vicinal, *filter(inspect.ismodule, (getattr(vicinal, n) for n in vicinal.__all__))]
    for module in modules:
        for name in getattr(module, "__all__", ()):
            member = getattr(module, name)
            doc = inspect.getdoc(member) or ""
            if inspect.isclass(member) and "Attributes\n---" in doc:
                section = re.split(r"\n\w[\w ]*\n---", doc.split("Attributes\n---")[1])[0]
                for names in re.findall(r"^([a-z][\w, ]*?) : ", section, re.M):
                    yield from (n.strip() for n in names.split(",") if n.strip().endswith("_"))


@pytest.mark.skipif(not GLOSSARY.exists(), reason="the docs are not part of the installed package")
def test_every_fitted_attribute_is_in_the_glossary():
    text = GLOSSARY.read_text(encoding="utf-8")
    attributes = set(documented_attributes())
    assert {"labels_", "probabilities_", "t_curve_"} <= attributes
    assert sorted(name for name in attributes if f"`{name}`" not in text) == []


@pytest.mark.skipif(not GLOSSARY.exists(), reason="the docs are not part of the installed package")
def test_no_attribute_of_the_glossary_has_disappeared():
    text = GLOSSARY.read_text(encoding="utf-8")
    listed = set(re.findall(r"`([a-z]\w*_)`", text))
    assert listed - set(documented_attributes()) == set()
