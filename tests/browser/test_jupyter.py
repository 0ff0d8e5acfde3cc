"""A reader opens the lessons in JupyterLab and in Notebook 7."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.jupyter import Reader, serving, stored_outputs, text_cells
from tests.notebooks import cell_of_demo, code_cells
from tests.snapshots import each_step
from tutorial.steps import find_step

ENOUGH_CONTRAST = 4.5  # WCAG 2, level AA
ENCODER = find_step(7)
MASK = find_step(2)  # its change has removed lines too
TITLE = ".jp-MarkdownOutput h1"
DIFF = "[data-mime-type='text/html']"
FIGURE = "[data-mime-type='image/png'] img"


@pytest.fixture(params=["lab", "notebook7"])
def reader(request, browser, tmp_path):
    with serving(request.param, tmp_path) as server:
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        reader = Reader(request.param, server, page)
        yield reader
        page.close()
        print(server.log())  # shown where the test has failed
    assert not reader.wrong


def test_a_notebook_of_a_fresh_clone_can_be_read(reader):
    reader.open(ENCODER)
    assert not reader.trusts()
    the_text_is_there(reader.page)
    expected = stored_outputs(ENCODER)
    assert reader.outputs(expected) == expected
    the_change_is_there(reader)

    demo = code_cells(ENCODER).index(cell_of_demo(ENCODER))
    printed = reader.page.locator(".jp-CodeCell").nth(demo).locator("pre")
    for name, place in (
        ("top", reader.page.locator(TITLE)),
        ("diff", reader.page.locator(DIFF)),
        ("demo", printed),
        ("figure", reader.page.locator(FIGURE)),
    ):
        expect(place).to_be_visible()
        reader.photograph(f"untrusted-{name}", place)
    a_fold_opens(reader.page)


def the_text_is_there(page):
    text = "\n".join(cell.source for cell in text_cells(ENCODER))
    headings = page.locator(".jp-MarkdownOutput").locator("h1, h2, h3")
    shown = [heading.rstrip("¶") for heading in headings.all_text_contents()]
    assert shown == re.findall(r"^#+ (.*)$", text, re.M)
    formulas = page.locator(".jp-MarkdownOutput mjx-container")
    expect(formulas).to_have_count(text.count("$$") // 2)
    transformer_map = page.locator(".jp-MarkdownOutput img")
    assert transformer_map.evaluate("img => img.naturalWidth") > 500


def the_change_is_there(reader):
    diff = reader.page.locator(DIFF)
    expect(diff.get_by_text("+31 −0 · 파일 전체 196줄")).to_be_visible()
    added = diff.locator("ins").first
    expect(added).to_be_visible()
    expect(added).to_contain_text("class EncoderLayer(nn.Module):")
    assert reader.ground(added) != reader.ground(diff)
    for code in diff.locator("pre").all():
        assert style(code, "whiteSpace") == "pre"
        assert style(code, "fontFamily").endswith("monospace")


def style(locator, name: str) -> str:
    return locator.evaluate("(e, name) => getComputedStyle(e)[name]", name)


def a_fold_opens(page):
    summary = page.get_by_text("⋯ attention … class SublayerConnection 162줄")
    folded = summary.locator("xpath=following-sibling::pre")
    expect(folded).to_be_hidden()
    summary.click()
    expect(folded).to_be_visible()
    expect(folded).to_contain_text("def attention(query, key, value")


@pytest.mark.parametrize("reader", ["lab"], indirect=True)
@pytest.mark.parametrize("step", [ENCODER, MASK], ids=lambda step: step.name)
def test_both_themes_have_contrast(reader, step):
    reader.open(step)
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        reader.use_theme(theme)
        contrasts = reader.contrasts()
        assert not [pair for pair in contrasts if pair[0] < ENOUGH_CONTRAST]
    for name, place in (("top", TITLE), ("diff", DIFF), ("figure", FIGURE)):
        reader.photograph(f"dark-{name}", reader.page.locator(place))


def test_run_all_shows_what_is_stored(reader):
    run_all(reader, ENCODER)
    reader.photograph("trusted-diff", reader.page.locator(DIFF))


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["lab"], indirect=True)
@each_step
def test_every_notebook_runs_in_jupyterlab(reader, step):
    run_all(reader, step)


def run_all(reader, step):
    reader.open(step)
    reader.trust()
    assert reader.trusts()
    reader.run_all()
    expected = stored_outputs(step)
    assert reader.outputs(expected) == expected
    reader.wait_for_pictures()
