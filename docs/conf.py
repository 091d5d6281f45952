"""The documentation site: Sphinx, Furo and Markdown. `make docs` builds it into build/docs; warnings are errors."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import semibandits

project = "semibandits"
author = "The semibandits developers"
project_copyright = author
version = release = semibandits.__version__
language = "en_GB"

extensions = ["myst_parser", "site_reference", "site_pages"]
exclude_patterns = ["_build", "Thumbs.db", ".DS_Store"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
smartquotes = False
highlight_language = "none"  # formulas and tables are indented or fenced without a language
add_module_names = False
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

html_theme = "furo"
pygments_style = "a11y-light"
pygments_dark_style = "github-dark"
html_title = "semibandits"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
templates_path = ["_templates"]
html_search_scorer = str(Path(__file__).parent / "search.js")
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7ab8e0", "color-brand-content": "#7ab8e0"},
}
