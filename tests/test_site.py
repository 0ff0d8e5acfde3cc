"""The web edition holds what the notebooks hold, and nothing from outside."""

import json
import re
from base64 import b64decode
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.notebooks import code_cells
from tests.sites import LESSONS, PAGES, ids, site, soup
from tests.snapshots import each_step
from tutorial import web
from tutorial.builder import NOTEBOOKS
from tutorial.errors import TutorialError
from tutorial.steps import all_steps, find_step
from tutorial.viewer import Diff, births, definition

each_page = pytest.mark.parametrize("page", PAGES)
each_lesson = pytest.mark.parametrize("page", LESSONS)


def javascript(name):
    """The value that a data file gives to its one constant."""
    text = (site() / "assets" / name).read_text(encoding="utf-8")
    return json.loads(re.fullmatch(r"const \w+ = (.*);\n", text)[1])


# ------------------------------------------------------------ every page


@each_page
def test_nothing_comes_from_outside(page):
    for tag in soup(page).find_all(["script", "link", "img"]):
        source = tag.get("src") or tag.get("href", "")
        assert source == "data:," or not urlsplit(source).scheme, tag
        if source != "data:,":
            assert (site() / source).is_file(), tag


@pytest.mark.parametrize("name", ["style.css", "book.js", "theme.js"])
def test_our_own_assets_name_no_address(name):
    text = (site() / "assets" / name).read_text(encoding="utf-8")
    assert not re.search(r"https?:|url\(|@import|fetch\(", text)


@each_page
def test_every_link_leads_somewhere(page):
    for link in soup(page).find_all("a", href=True):
        parts = urlsplit(link["href"])
        if parts.scheme:
            assert parts.scheme == "https", link
            continue
        target = unquote(parts.path) or page
        assert (site() / target).is_file(), link
        if parts.fragment:
            anchor = unquote(parts.fragment)
            assert anchor in ids(target), link


@each_page
def test_no_id_twice(page):
    assert len(set(ids(page))) == len(ids(page))


@each_page
def test_headings_are_in_order(page):
    headings = soup(page).find_all(re.compile("^h[1-6]$"))
    levels = [int(heading.name[1]) for heading in headings]
    assert levels[0] == 1 and levels.count(1) == 1
    for before, level in zip(levels, levels[1:], strict=False):
        assert level <= before + 1, headings


@each_page
def test_a_page_says_what_it_is(page):
    html = soup(page).html
    assert html["lang"] == "ko"
    assert html.find("meta", attrs={"name": "viewport"})
    assert len(html.title.get_text()) > 20
    titles = {soup(other).title.get_text() for other in PAGES}
    assert len(titles) == len(PAGES)


@each_page
def test_every_picture_has_a_text(page):
    for image in soup(page).find_all("img"):
        assert len(image["alt"]) > 40, image


@each_page
def test_a_page_is_light(page):
    limit = 200_000 if page == "index.html" else 600_000
    assert (site() / page).stat().st_size <= limit


# ----------------------------------------------------------- the lessons


@each_step
def test_what_a_notebook_prints_stands_on_its_page(step):
    text = soup(f"{step.name}.html").get_text()
    for cell in code_cells(step):
        for output in cell.outputs:
            if output.output_type == "stream":
                assert output.text.strip("\n") in text


@each_step
def test_every_figure_is_a_file_and_the_one_of_the_notebook(step):
    pictures = [
        b64decode(output.data["image/png"])
        for cell in code_cells(step)
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]
    shown = soup(f"{step.name}.html").select("figure:not(.map) img")
    assert [
        (site() / image["src"]).read_bytes() for image in shown
    ] == pictures
    assert pictures


@each_lesson
def test_maths_is_drawn_by_the_browser(page):
    article = soup(page).main
    for math in article.find_all("math"):
        assert math.get_text(strip=True) and not math.find("merror")
        math = math.get_text()
        assert not re.search(r"[\\${}]", math), math
    prose = [part.get_text() for part in article.find_all(["p", "li", "td"])]
    assert not [text for text in prose if "$" in text or "\\frac" in text]


def test_log_stands_apart_from_what_it_is_of():
    formulas = [
        str(math)
        for page in LESSONS
        for math in soup(page).find_all("math")
        if "<mi>log</mi>" in str(math)
    ]
    assert formulas
    for math in formulas:
        assert not re.search("<mi>log</mi><m(i|sub|frac)", math), math


def test_what_is_short_is_not_parted():
    for page, text in (
        ("02_mask.html", "-inf"),
        ("06_sublayer.html", "Pre-LN"),
        ("03_multi_head.html", "(32, 6, 512)"),
    ):
        whole = [e.get_text() for e in soup(page).main.select(".whole")]
        prose = soup(page).main.select("p, li, td, h2, h3")
        said = sum(part.get_text().count(text) for part in prose)
        assert whole.count(text) == said > 2


def test_formulas_are_there():
    assert sum(len(soup(page).find_all("math")) for page in LESSONS) > 100


@each_step
def test_the_demo_is_folded_with_line_numbers(step):
    page = soup(f"{step.name}.html")
    (summary,) = page.find_all("summary", string="실행한 코드 demo.py 보기")
    assert not summary.parent.has_attr("open")
    numbers = [n.get_text() for n in summary.parent.select(".linenos")]
    demo = step.demo_file.read_text(encoding="utf-8").strip()
    assert [int(n) for n in numbers] == list(
        range(1, len(demo.splitlines()) + 1)
    )
    output = summary.find_parent("details").find_next_sibling()
    assert output["class"] == ["output"]


@each_step
def test_previous_contents_and_next(step):
    page = soup(f"{step.name}.html")
    nav = {a.get("rel", [""])[0]: a["href"] for a in page.header.find_all("a")}
    names = [other.name for other in all_steps()]
    i = names.index(step.name)
    assert nav[""] == "index.html"
    assert nav.get("prev") == (f"{names[i - 1]}.html" if i else None)
    assert nav.get("next") == (
        f"{[*names, None][i + 1]}.html" if i + 1 < len(names) else None
    )


def test_a_step_that_is_named_is_a_link():
    page = soup("07_encoder.html")
    links = {a.get_text(): a["href"] for a in page.select("main a.step")}
    assert links["6단계"] == "06_sublayer.html"
    assert links["9단계"] == "09_full_model.html"
    assert "7단계" not in links


def test_the_contents_page_tells_what_each_step_adds():
    rows = soup("index.html").select("ol.steps > li")
    assert len(rows) == len(all_steps())
    for step, row in zip(all_steps(), rows, strict=True):
        assert row.a["href"] == f"{step.name}.html"
        assert step.title in row.a.get_text()
    assert rows[6].code.get_text() == "+31 −0"


# ------------------------------------------------------------ the change


def lines_of(listing):
    """[sign, text] of each row."""
    signs = {"ins": "+", "del": "-", "span": " "}
    return [
        [
            signs[row.name],
            row.find(class_="code").get_text().removesuffix("\n"),
        ]
        for row in listing.select(".row")
    ]


@each_step
def test_without_a_script_the_change_is_all_there(step):
    before = find_step(step.number - 1) if step.number > 1 else None
    change = Diff(before, step).change
    expected = [
        [
            line.sign,
            change.old[line.old - 1]
            if line.new is None
            else change.new[line.new - 1],
        ]
        for line in change.lines
    ]
    (viewer,) = soup(f"{step.name}.html").select(".viewer")
    assert lines_of(viewer) == expected
    for row in viewer.select("ins.row, del.row"):
        sign = {"ins": "+", "del": "−"}[row.name]
        assert row.find(class_="sign").get_text() == sign


def test_a_far_unchanged_stretch_is_folded():
    (viewer,) = soup("07_encoder.html").select(".viewer")
    for folded in viewer.select("details"):
        assert not folded.has_attr("open")
        assert not folded.select("ins, del")
    assert viewer.select("details summary")


def without_tags(html):
    text = re.sub("<[^>]+>", "", html)
    for name, sign in {"lt": "<", "gt": ">", "quot": '"', "#39": "'"}.items():
        text = text.replace(f"&{name};", sign)
    return text.replace("&amp;", "&")


def test_any_two_steps_can_be_compared():
    """The shared file has each line, and what any two snapshots share."""
    course = javascript("diffs.js")
    texts = [
        [without_tags(course["pool"][i]) for i in file["lines"]]
        for file in course["files"]
    ]
    assert texts[0] == []
    for step, text, file in zip(
        all_steps(), texts[1:], course["files"][1:], strict=True
    ):
        assert text == step.snapshot.splitlines()
        assert file["born"] == births(step)
        assert file["name"] == step.name and file["title"] == step.title
    numbers = range(1, len(texts))
    pairs = {f"{a}-{b}" for a in numbers for b in numbers if a != b}
    assert set(course["equal"]) == pairs
    for pair, blocks in course["equal"].items():
        a, b = map(int, pair.split("-"))
        for i, j, n in blocks:
            assert texts[a][i : i + n] == texts[b][j : j + n]


@pytest.mark.parametrize(
    "old, new", [(1, 2), (3, 7), (6, 7), (18, 7), (2, 18), (16, 17)]
)
def test_a_comparison_counts_as_the_notebook_does(old, new):
    course = javascript("diffs.js")
    change = Diff(find_step(old), find_step(new)).change
    same = sum(n for _, _, n in course["equal"][f"{old}-{new}"])
    assert len(change.old) - same == change.removed
    assert len(change.new) - same == change.added


def test_the_page_of_the_finished_file():
    step = all_steps()[-1]
    page = soup(web.FILE_PAGE)
    assert [text for _, text in lines_of(page)] == step.snapshot.splitlines()
    for row, born in zip(page.select(".row"), births(step), strict=True):
        origin, here = row.find_all("a")
        assert origin["href"] == f"{find_step(born).name}.html"
        assert here["href"] == f"#{here['id']}"
    assert (site() / "transformer.py").read_text(
        encoding="utf-8"
    ) == step.snapshot


# ---------------------------------------------------------------- search


def test_search_looks_through_everything():
    sections = javascript("search-index.js")
    text = "\n".join(s["title"] + s["text"] for s in sections)
    for word in ("subsequent_mask", "레이블 스무딩", "18,915,328", "mallopt"):
        assert word in text
    for section in sections:
        page, _, anchor = section["url"].partition("#")
        assert page in PAGES
        assert not anchor or anchor in ids(page), section["url"]
    places = {section["place"] for section in sections}
    assert len(places) == len(all_steps()) + 1


def test_search_finds_definitions_of_the_file():
    step = all_steps()[-1]
    _, line = definition(step.snapshot, "beam_search")
    found = [
        section["url"]
        for section in javascript("search-index.js")
        if section["title"] == "beam_search"
    ]
    assert found == [f"{web.FILE_PAGE}#L{line}"]


# ----------------------------------------------------------------- build


def test_the_same_notebooks_give_the_same_site(tmp_path):
    web.build(NOTEBOOKS, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(site())


def contents(folder: Path):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_build_that_fails_leaves_the_old_site(tmp_path):
    target = tmp_path / "site"
    target.mkdir()
    (target / "index.html").write_text("old", encoding="utf-8")
    with pytest.raises(TutorialError, match="01_attention.ipynb"):
        web.build(tmp_path / "nothing", target)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    assert (target / "index.html").read_text(encoding="utf-8") == "old"
