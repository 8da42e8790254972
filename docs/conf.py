"""Settings of the documentation site, which `make docs` builds. docs/design has the reasons (0019)."""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# Settings of JAX and Keras that a machine has would change default values in signatures.
os.environ["JAX_PLATFORMS"] = "cpu"

project = "Unisono"
author = "The Unisono authors"
project_copyright = author
version = release = installed_version("unisono")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "api_reference",
    "command_help",
    "docstring_markup",
    "languages",
    "layer_diagrams",
    "navigation",
    "repository_files",
    "table_code",
]

# The source folder is the repository: a link such as ../README.md or ../tests/parity means the same here as on GitHub.
root_doc = "docs/index"
source_suffix = {".md": "markdown"}
include_patterns = ["*.md", "docs/**", "benchmarks/*.md", "examples/**"]
exclude_patterns = [".*", "build", "dist", "requirements", "runs", "src", "tests", "docs/_*", "**/__pycache__"]
templates_path = ["_templates"]
# Where the repository can be read, such as "https://github.com/ORGANIZATION/unisono/blob/main". While there is no such
# place, the site has a page for each file that a page links to.
repository_url = ""

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
myst_fence_as_directive = ["mermaid"]
suppress_warnings = ["myst.header"]  # a table of contents may begin below the page's title

default_role = "code"
add_module_names = False
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 88
autodoc_typehints = "none"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "Unisono"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_additional_pages = {"index": "redirect.html"}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/language.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b57d0", "color-brand-content": "#0b57d0"},
    "dark_css_variables": {"color-brand-primary": "#8ab4f8", "color-brand-content": "#8ab4f8"},
}
html_search_language = "en-ko"
html_search_scorer = "docs/_ext/search_scorer.js"  # Sphinx looks for it from the source folder
