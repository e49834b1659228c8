"""Sphinx configuration: `make docs` builds the pages into build/docs."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import vicinal

project = "vicinal"
author = "The vicinal developers"
copyright = "The vicinal developers"
version = release = vicinal.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "api_links",
    "api_pages",
    "native_math",
    "outside_pages",
]
exclude_patterns = ["_ext", "**/README.md", "**/GALLERY_HEADER.rst"]

# Markdown that code hosts also render: dollars for formulas, headings as targets.
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

# Docstrings use single backticks for references.
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
templates_path = ["_templates"]
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "generated/gallery",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("vicinal",),
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 600,
    "image_scrapers": ("matplotlib",),
    "thumbnail_size": (400, 300),
    "write_computation_times": False,
}

html_theme = "furo"
html_title = f"vicinal {release}"
html_static_path = ["_static"]
html_extra_path = ["llms.txt"]
html_css_files = ["vicinal.css"]
html_math_renderer = "native"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6e6e", "color-brand-content": "#0b6e6e"},
    "dark_css_variables": {"color-brand-primary": "#5fc9c1", "color-brand-content": "#5fc9c1"},
}
