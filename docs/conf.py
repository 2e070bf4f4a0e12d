"""How the documentation site is built: `make docs`.

No page of the site loads anything from another address, and a build needs no network: formulas are
MathML, and links to the documentation of other projects are made only if INTERSPHINX=1 asks for
their inventories. docs/decisions/0019-documentation-site.md says why it is built this way.
"""

import os
import sys
import warnings
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

from pygments.lexers.special import TextLexer  # noqa: E402

from matroid_bandits import __version__  # noqa: E402

project = "matroid-bandits"
author = "matroid-bandits developers"
copyright = f"2025-2026, {author}"  # noqa: A001 - the name that Sphinx reads
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # In docs/_ext:
    "api_pages",
    "citations",
    "mathml",
    "program_pages",
    "repository",
]

exclude_patterns = [
    "_ext",
    "_build",
    "studies",
    "gallery/*.ipynb",
    "gallery/*.py",
    "gallery/sg_execution_times.rst",
    "sg_execution_times.rst",
]
default_role = "py:obj"
suppress_warnings = ["config.cache"]  # of functions in this file

# ---- Markdown ----
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
html_math_renderer = "mathml"
nb_execution_mode = "off"  # the tour is shown with the outputs it has; a test runs it

# ---- Python ----
autosummary_generate = False  # api_pages writes the pages
autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_attributes_as_param_list = True

intersphinx_mapping = (
    {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "networkx": ("https://networkx.org/documentation/stable", None),
        "gymnasium": ("https://gymnasium.farama.org", None),
    }
    if os.environ.get("INTERSPHINX") == "1"
    else {}
)

# ---- Gallery ----
FIGURES = DOCS.parent / "build" / "gallery"


def example_arguments(_configuration, script_vars):
    """Where an example draws when the gallery runs it."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    return [str(FIGURES / f"{Path(script_vars['src_file']).stem}.png")]


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "reset_argv": example_arguments,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
}
warnings.filterwarnings("ignore", message=".*Agg is non-interactive.*", category=UserWarning)

# ---- Site ----
html_theme = "pydata_sphinx_theme"
html_title = "matroid-bandits"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "matroid-bandits"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "collapse_navigation": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": False,
    "use_edit_page_button": False,
}
html_sidebars = {"index": []}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True


def setup(app):
    """Tables of a study file are shown as they are."""
    app.add_lexer("csv", TextLexer)
