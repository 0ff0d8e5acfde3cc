"""The notebooks keep to what GitHub and VS Code show as well.

Neither can be run here.  What the markup of a diff may hold is in
`test_notebooks`; GitHub drops its styles, so `test_viewer` reads it without.
"""

import re

import nbformat
import pytest

from tests import complaints
from tests.notebooks import code_cells, tokens
from tests.snapshots import each_step
from tutorial import builder


@pytest.fixture(
    params=sorted(builder.NOTEBOOKS.glob("*.ipynb")),
    ids=lambda path: path.stem,
)
def notebook(request):
    text = request.param.read_text(encoding="utf-8")
    return nbformat.reads(text, as_version=4)


def test_text_has_no_html_but_bare_folds(notebook):
    assert complaints.foreign_text(notebook) == []


def test_pictures_lie_beside_the_notebook_and_say_what_they_show(notebook):
    for token in tokens(notebook):
        if token.type == "image":
            source = token.attrGet("src")
            assert re.fullmatch(r"maps/\d\d\.png", source)
            assert (builder.NOTEBOOKS / source).is_file()
            assert len(token.content) > 15


def rich_outputs(step):
    outputs = [o for cell in code_cells(step) for o in cell.outputs]
    return [output.data for output in outputs if "data" in output]


@each_step
def test_outputs_are_text_markup_and_pictures(step):
    """Nothing that needs JavaScript, and no svg, which GitHub drops."""
    for data in rich_outputs(step):
        assert set(data) <= {"text/plain", "text/html", "image/png"}


@each_step
def test_outputs_have_a_text_that_says_what_they_are(step):
    """The diff itself; or that it is a figure, whose cell has an `alt`."""
    for data in rich_outputs(step):
        text = r"\+\d+ -\d+ · " if "text/html" in data else r"<Figure size \d"
        assert re.match(text, data["text/plain"])


@each_step
def test_links_in_markup_stay_inside_the_repository(step):
    for data in rich_outputs(step):
        for link in re.findall(r'href="([^"]*)"', data.get("text/html", "")):
            assert link.startswith("../steps/")
            assert (builder.NOTEBOOKS / link).is_file()
