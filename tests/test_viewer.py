"""The diff viewer: right, deterministic, and readable without styles."""

import re

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from tests.snapshots import each_step
from tutorial import lesson
from tutorial.errors import TutorialError
from tutorial.steps import all_steps, find_step, neighbours
from tutorial.viewer import (
    Change,
    Diff,
    History,
    births,
    definition,
    highlighted,
    stretches,
)

texts = st.lists(st.sampled_from(["", "a", "b", "def c():", " <x>"]))
texts = texts.map(lambda lines: "".join(line + "\n" for line in lines))


def test_step_07_is_what_its_users_expect():
    assert lesson(7).diff().counts() == "+31 −0 · 파일 전체 196줄"


def test_the_first_step_starts_from_an_empty_file():
    diff = lesson(1).diff()
    total = len(find_step(1).snapshot.splitlines())
    assert (diff.change.added, diff.change.removed) == (total, 0)


@given(texts, texts)
def test_a_change_rebuilds_both_texts(old, new):
    change = Change(old, new)
    kept = {"old": [], "new": []}
    for line in change.lines:
        if line.old:
            kept["old"].append(change.old[line.old - 1])
        if line.new:
            kept["new"].append(change.new[line.new - 1])
        if line.sign == " ":
            assert kept["old"][-1] == kept["new"][-1]
    assert kept == {"old": old.splitlines(), "new": new.splitlines()}
    assert len(change.lines) == change.added + len(change.old)


@given(texts, texts)
def test_folding_loses_no_line(old, new):
    lines = Change(old, new).lines
    parts = list(stretches(lines))
    assert [line for part, _ in parts for line in part] == lines
    for part, folded in parts:
        if folded:
            assert all(line.sign == " " for line in part)


@each_step
def test_the_html_without_styles_is_the_diff(step):
    """Old and new numbers, sign and code, row by row, folds included."""
    before, _ = neighbours(step)
    diff = Diff(before, step)
    page = BeautifulSoup(diff._repr_html_(), "html.parser")
    change, whole = page.find_all("details", recursive=False)
    rows = [
        row
        for pre in change.find_all("pre")
        for row in pre.get_text().splitlines()
    ]
    expected = []
    for line in diff.change.lines:
        text = diff.change.new if line.new else diff.change.old
        code = text[(line.new or line.old) - 1]
        sign = "−" if line.sign == "-" else line.sign
        row = f"{line.old or '':>4} {line.new or '':>4} {sign} {code}"
        expected.append(row.rstrip())
    assert rows == expected
    assert diff.counts() in page.get_text()
    rows = whole.find("pre").get_text().splitlines()
    assert [row[10:] for row in rows] == step.snapshot.splitlines()
    assert [int(row[:2]) for row in rows] == births(step)


def test_a_fold_names_what_is_inside():
    html = lesson(7).diff()._repr_html_()
    assert "⋯ attention … class SublayerConnection 162줄" in html


@each_step
def test_twice_gives_the_same_bytes(step):
    """Against the first step and, backwards, against the last."""
    for old, new in ((all_steps()[0], step), (all_steps()[-1], step)):
        highlighted.cache_clear()
        first = Diff(old, new)._repr_html_()
        highlighted.cache_clear()
        assert Diff(old, new)._repr_html_() == first


def test_against_another_step():
    diff = lesson(9).diff(3)
    assert "03 → 09" in diff._repr_html_()
    assert diff.change.new == find_step(9).snapshot.splitlines()
    assert diff.change.old == find_step(3).snapshot.splitlines()


@each_step
def test_births_are_the_step_in_which_a_line_appeared(step):
    born = births(step)
    lines = step.snapshot.splitlines()
    for earlier in all_steps():
        if earlier.number <= step.number:
            text = set(earlier.snapshot.splitlines())
            for line, number in zip(lines, born, strict=True):
                assert line in text or number > earlier.number
    before, _ = neighbours(step)
    assert born.count(step.number) == Diff(before, step).change.added


def test_history_of_attention():
    history = lesson(9).history("attention")
    assert [step.number for step, _ in history.changes] == [1, 2, 3]
    assert "mask=None" in repr(history)
    html = history._repr_html_()
    assert html.count("<details open>") == 3
    shown = BeautifulSoup(html, "html.parser").get_text()
    lines = re.findall(r"^.{5}( *\d+) \+ def", shown, re.M)
    files = [find_step(number).snapshot for number in (1, 2, 3)]
    starts = [definition(text, "attention")[1] for text in files]
    assert [int(line) for line in lines] == starts


def test_history_of_an_unknown_name_lists_the_names():
    with pytest.raises(TutorialError, match="'attn'는 없다.*attention"):
        History("attn", find_step(1))


@given(st.text(alphabet="ab<>&\"' \n#=()한"))
def test_highlighting_keeps_the_text(text):
    lines = highlighted(text)
    shown = [BeautifulSoup(line, "html.parser").get_text() for line in lines]
    assert shown == text.split("\n")[: len(text.splitlines())]
