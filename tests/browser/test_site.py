"""The web edition, as a reader sees it in Chromium, opened from its folder."""

import re
from contextlib import contextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.sites import LESSONS, PAGES, site
from tutorial.steps import ROOT, find_step
from tutorial.viewer import Diff

SHOTS = ROOT / "build" / "shots"
PHONE, TABLET, WIDE = (360, 740), (768, 1024), (1440, 900)
LOOKED_AT = [(PHONE, "light"), (WIDE, "dark")]  # a picture takes seconds
each_page = pytest.mark.parametrize("page", PAGES)


def address(page):
    name, hash, line = page.partition("#")
    return (site() / name).as_uri() + hash + line


@contextmanager
def opened(browser, page, size=WIDE, theme="light", **context):
    """A page in a new profile; at the end, nothing may have gone wrong."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=theme,
        locale="ko-KR",
        **context,
    )
    context.set_default_timeout(30_000)
    tab, wrong = context.new_page(), []
    folder = site().as_uri() + "/"

    def asked(request):
        inside = request.url.startswith(folder)
        if not inside and not request.url.startswith("data:"):
            wrong.append(f"asked for {request.url}")

    tab.on("request", asked)
    tab.on("requestfailed", lambda r: wrong.append(f"failed: {r.url}"))
    tab.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    tab.on(
        "console",
        lambda said: (
            wrong.append(said.text)
            if said.type in ("error", "warning")
            else None
        ),
    )
    try:
        tab.goto(address(page))
        yield tab
        assert not wrong
    finally:
        context.close()


def shot(tab, name):
    tab.screenshot(path=SHOTS / f"{name}.png", full_page=True)


# ------------------------------------------------------------ every page


def themes(tab):
    """Both, one after the other: a page follows the system's choice."""
    for theme in ("light", "dark"):
        tab.emulate_media(color_scheme=theme)
        yield theme


@each_page
@pytest.mark.parametrize("size", [PHONE, TABLET, WIDE], ids=lambda s: s[0])
def test_a_page_fits(browser, page, size):
    """No error, no outside request, nothing off the edge, every picture."""
    with opened(browser, page, size) as tab:
        if page in LESSONS:
            tab.wait_for_selector(".viewer[data-ready]")
        for theme in themes(tab):
            over = tab.evaluate(
                "document.documentElement.scrollWidth - innerWidth"
            )
            assert over <= 0, theme
            for image in tab.locator("img").all():
                image.scroll_into_view_if_needed()
                expect(image).to_have_js_property("complete", True)
                assert image.evaluate("image => image.naturalWidth") > 0
            if (size, theme) in LOOKED_AT:
                tab.evaluate("scrollTo(0, 0)")
                shot(tab, f"{page.removesuffix('.html')}-{size[0]}-{theme}")


@each_page
def test_axe_finds_nothing(browser, page):
    with opened(browser, page, TABLET) as tab:
        if page in LESSONS:
            tab.wait_for_selector(".viewer[data-ready]")
        # It takes a minute for a thousand lines of code, which are all alike.
        tab.evaluate(
            "[...document.querySelectorAll('.row')].slice(300)"
            ".forEach(row => row.remove())"
        )
        # Half the time would go into describing what is right.
        options = {"preload": False, "resultTypes": ["violations"]}
        for theme in themes(tab):
            results = Axe().run(tab, options=options)
            report = results.generate_report()
            assert results.violations_count == 0, f"{theme}: {report}"


def test_a_line_of_text_has_60_to_80_characters(browser):
    with opened(browser, "07_encoder.html") as tab:
        lines = tab.evaluate(
            """() => [...document.querySelectorAll("main > p")].map(p => {
              const height = parseFloat(getComputedStyle(p).lineHeight);
              return [p.textContent.length, p.clientHeight / height];
            }).filter(([, rows]) => rows > 2.5)"""
        )
        characters = sum(length for length, _ in lines)
        rows = sum(round(rows) - 0.5 for _, rows in lines)  # half the last
        assert 60 <= characters / rows <= 80


# --------------------------------------------------------- without script


def test_without_javascript_the_change_is_readable(browser):
    with opened(browser, "07_encoder.html", java_script_enabled=False) as tab:
        assert tab.locator(".viewer ins").count() == 31
        expect(tab.locator(".viewer ins").first).to_be_visible()
        expect(tab.get_by_text("+31 −0 · 파일 전체 196줄")).to_be_visible()
        expect(tab.locator("header .tools")).to_be_hidden()
        tab.locator(".viewer summary").first.click()
        expect(tab.locator(".viewer details").first).to_have_attribute(
            "open", ""
        )


# ------------------------------------------------------------ the viewer


@pytest.fixture
def lesson(browser):
    with opened(browser, "07_encoder.html") as tab:
        tab.wait_for_selector(".viewer[data-ready]")
        yield tab


def button(tab, name):
    return tab.get_by_role("button", name=name, exact=True)


def code(tab, selector):
    return tab.locator(f".listing {selector} .code").all_text_contents()


def expected(old, new, sign):
    change = Diff(old and find_step(old), find_step(new)).change
    lines = change.old if sign == "-" else change.new
    return [
        lines[(line.old if sign == "-" else line.new) - 1] + "\n"
        for line in change.lines
        if line.sign == sign
    ]


def test_the_whole_file_tells_where_each_line_was_born(lesson):
    button(lesson, "파일 전체").click()
    text = find_step(7).snapshot
    assert "".join(code(lesson, ".row")) == text
    first = lesson.locator(".listing .row").first.locator("a.no").first
    expect(first).to_have_attribute("href", re.compile(r"^\d\d_\w+\.html$"))
    button(lesson, "바뀐 곳").click()
    assert code(lesson, "ins") == expected(6, 7, "+")


@pytest.mark.parametrize("old", [0, 2, 5, 7, 12, 18])
def test_any_step_can_be_compared_with(lesson, old):
    lesson.get_by_label("견줄 단계").select_option(str(old))
    counts = lesson.locator(".counts code")
    if old == 7:
        expect(counts).to_contain_text("+0 −0")
        return
    added, removed = expected(old, 7, "+"), expected(old, 7, "-")
    expect(counts).to_contain_text(f"+{len(added)} −{len(removed)} ")
    assert code(lesson, "ins") == added
    assert code(lesson, "del") == removed


def test_side_by_side_pairs_removed_and_added_lines(browser):
    with opened(browser, "02_mask.html") as tab:
        tab.wait_for_selector(".viewer[data-ready]")
        button(tab, "나란히").click()
        added, removed = expected(1, 2, "+"), expected(1, 2, "-")
        assert code(tab, "ins") == added and code(tab, "del") == removed
        pair = tab.locator(".pair:has(del):has(ins)").first
        left = pair.locator("del").bounding_box()
        right = pair.locator("ins").bounding_box()
        assert left["y"] == right["y"]
        assert left["x"] + left["width"] <= right["x"]
        shot(tab, "02_mask-side-by-side")


def test_side_by_side_is_for_wide_screens(browser):
    with opened(browser, "07_encoder.html", TABLET) as tab:
        tab.wait_for_selector(".viewer[data-ready]")
        expect(button(tab, "나란히")).to_be_hidden()


def test_what_is_folded_opens_and_closes(lesson):
    folded = lesson.locator(".listing details")
    title = "⋯ attention … class SublayerConnection 162줄"
    expect(folded.first.locator("summary")).to_have_text(title)
    for step in ("5", "6"):  # drawn in the browser it reads the same
        lesson.get_by_label("견줄 단계").select_option(step)
    expect(folded.first.locator("summary")).to_have_text(title)
    hidden = folded.first.locator(".row").first
    expect(hidden).to_be_hidden()
    folded.first.locator("summary").click()
    expect(hidden).to_be_visible()
    button(lesson, "모두 접기").click()
    expect(hidden).to_be_hidden()
    button(lesson, "모두 펼치기").click()
    expect(hidden).to_be_visible()


@pytest.mark.parametrize("line", [3, 100, 181])
def test_a_link_leads_to_any_line(browser, line):
    with opened(browser, f"07_encoder.html#L{line}") as tab:
        here = tab.locator(".row.here")
        expect(here).to_be_in_viewport()
        text = find_step(7).snapshot.splitlines()[line - 1]
        assert here.locator(".code").text_content() == text + "\n"


def test_a_line_of_the_finished_file_by_link(browser):
    with opened(browser, "transformer.html#L300") as tab:
        expect(tab.locator(".row.here")).to_be_in_viewport()


def test_the_file_can_be_copied(browser):
    allowed = ["clipboard-read", "clipboard-write"]
    with opened(browser, "07_encoder.html", permissions=allowed) as tab:
        tab.wait_for_selector(".viewer[data-ready]")
        button(tab, "파일 복사").click()
        expect(button(tab, "복사했다")).to_be_visible()
        copied = tab.evaluate("navigator.clipboard.readText()")
        assert copied.replace("\r\n", "\n") == find_step(7).snapshot


# ----------------------------------------------------- theme, keys, search


def background(tab):
    return tab.evaluate("getComputedStyle(document.body).backgroundColor")


def test_the_chosen_theme_is_remembered(lesson):
    light = background(lesson)
    button(lesson, "어둡게").click()
    dark = background(lesson)
    assert dark != light
    lesson.reload()
    assert background(lesson) == dark
    lesson.goto(address("08_decoder.html"))
    assert background(lesson) == dark
    button(lesson, "밝게").click()
    assert background(lesson) == light


def test_the_system_chooses_the_theme_at_first(browser):
    with opened(browser, "index.html", theme="dark") as tab:
        dark = background(tab)
    with opened(browser, "index.html", theme="light") as tab:
        assert background(tab) != dark


def test_the_arrow_keys_turn_the_pages(lesson):
    lesson.keyboard.press("ArrowRight")
    lesson.wait_for_url("**/08_decoder.html")
    lesson.keyboard.press("ArrowLeft")
    lesson.wait_for_url("**/07_encoder.html")
    lesson.keyboard.press("c")
    lesson.wait_for_url("**/index.html")
    lesson.keyboard.press("ArrowRight")
    lesson.wait_for_url("**/01_attention.html")
    lesson.keyboard.press("ArrowLeft")
    expect(lesson).to_have_url(address("01_attention.html"))


def test_a_question_mark_lists_the_keys(lesson):
    lesson.keyboard.press("?")
    dialog = lesson.get_by_role("dialog", name="단축키")
    expect(dialog).to_contain_text("다음 과")
    lesson.keyboard.press("ArrowRight")  # not while the list is open
    lesson.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(lesson).to_have_url(address("07_encoder.html"))


@pytest.mark.parametrize(
    "query, page",
    [
        ("패딩", "02_mask.html"),
        ("스무딩", "14_label_smoothing.html"),
        ("subsequent_mask", "02_mask.html"),
        ("smoothing", "14_label_smoothing.html"),
        ("beam_search", "transformer.html"),
        ("18,915,328", "07_encoder.html"),
    ],
)
def test_search_finds(lesson, query, page):
    lesson.keyboard.press("/")
    box = lesson.get_by_role("searchbox", name="찾을 말")
    expect(box).to_be_focused()
    box.fill(query)
    found = lesson.locator(f'.results a[href^="{page}"]')
    expect(found.first).to_be_visible()
    expect(lesson.locator(".results mark").first).to_be_visible()


def test_a_result_is_opened_with_enter(lesson):
    lesson.keyboard.press("/")
    lesson.get_by_role("searchbox").fill("subsequent_mask")
    expect(lesson.locator(".results a").first).to_be_visible()
    shot(lesson, "search")
    target = lesson.locator(".results a").first.get_attribute("href")
    lesson.keyboard.press("Enter")
    lesson.wait_for_url(f"**/{target.split('#')[0]}*")


def test_search_says_when_there_is_nothing(lesson):
    lesson.keyboard.press("/")
    lesson.get_by_role("searchbox").fill("qqqqzzzz")
    expect(lesson.get_by_role("status")).to_contain_text("찾은 곳이 없다")


def test_the_focus_can_be_seen(lesson):
    for _ in range(6):
        lesson.keyboard.press("Tab")
        outline = lesson.evaluate(
            "getComputedStyle(document.activeElement).outlineStyle"
        )
        assert outline == "solid"


def test_it_prints(lesson):
    lesson.emulate_media(media="print")
    expect(lesson.locator("header.bar")).to_be_hidden()
    over = lesson.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert over <= 0
    paper = lesson.pdf(format="A4")
    assert paper.startswith(b"%PDF")
