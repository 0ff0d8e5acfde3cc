"""The diff viewer of the web edition.

A page holds its own change as HTML, so that it reads without JavaScript.
Any other comparison is drawn in the browser, from `assets/diffs.js`: every
line of every snapshot once, and for any two steps which lines are equal.
"""

import json
import re
from difflib import SequenceMatcher
from functools import lru_cache
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from tutorial.steps import Step
from tutorial.viewer import (
    SIGN,
    Diff,
    Line,
    births,
    names_inside,
    stretches,
    titled,
    top_level,
)

TAG = {"+": "ins", "-": "del", " ": "span"}

# Names, punctuation and the like have no colour: half of all markup.
PLAIN = re.compile(r'<span class="(?:n|p|o|w|nb|nn|bp|ne)">([^<]*)</span>')


@lru_cache(maxsize=64)
def coloured(text: str) -> list[str]:
    """HTML of each line."""
    html = highlight(
        text, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)
    )
    html = PLAIN.sub(r"\1", html)
    return html.split("\n")[: len(text.splitlines())]


def row(sign: str, numbers: list[str], code: str) -> str:
    tag = TAG[sign]
    return (
        f'<{tag} class="row">{"".join(numbers)}'
        f'<span class="sign">{SIGN[sign]}</span>'
        f'<span class="code">{code}\n</span></{tag}>'
    )


def number(n: int | None, link: bool = False) -> str:
    if n is None or not link:
        return f'<span class="no">{n or ""}</span>'
    return f'<a class="no" id="L{n}" href="#L{n}" tabindex="-1">{n}</a>'


def viewer_html(diff: Diff) -> str:
    """The change of a step; JavaScript draws whatever else is wanted."""
    change = diff.change
    old_html = coloured("\n".join(change.old) + "\n")
    new_html = coloured("\n".join(change.new) + "\n")

    def rows(lines: list[Line]) -> str:
        shown = [
            row(
                line.sign,
                [number(line.old), number(line.new, link=True)],
                old_html[line.old - 1]
                if line.new is None
                else new_html[line.new - 1],
            )
            for line in lines
        ]
        return f"<pre>{''.join(shown)}</pre>"

    parts = []
    for lines, folded in stretches(change.lines):
        html = rows(lines)
        if folded:
            inside = names_inside(
                diff.new.snapshot, lines[0].new, lines[-1].new
            )
            title = f"⋯ {escape(inside)} {len(lines)}줄"
            html = f"<details><summary>{title}</summary>{html}</details>"
        parts.append(html)
    old = diff.old.number if diff.old else 0
    link = f"steps/{diff.new.name}/transformer.py"
    return (
        f'<section class="viewer" data-old="{old}" '
        f'data-new="{diff.new.number}" aria-label="코드 변화">\n'
        f'<p class="counts"><code>{diff.counts()}</code>'
        f'<a href="{link}">transformer.py 열기</a></p>\n'
        f'<div class="listing" tabindex="0">{"".join(parts)}</div>\n'
        "</section>\n"
    )


def file_html(text: str, born: list[int], steps: list[Step]) -> str:
    """A whole file; each line leads to the step in which it was born."""
    pages = {step.number: f"{step.name}.html" for step in steps}
    rows = []
    for n, (code, step) in enumerate(
        zip(coloured(text), born, strict=True), 1
    ):
        origin = (
            f'<a class="no" href="{pages[step]}" tabindex="-1" '
            f'title="{step}단계에서 생긴 줄">{step:02d}</a>'
        )
        rows.append(row(" ", [origin, number(n, link=True)], code))
    return f"<pre>{''.join(rows)}</pre>"


def script(steps: list[Step]) -> str:
    """`assets/diffs.js`: what any two steps have in common."""
    pool: dict[str, int] = {}
    files = [{"name": "빈 파일", "lines": [], "born": [], "names": []}]
    for step in steps:
        lines = coloured(step.snapshot)
        files.append(
            {
                "name": step.name,
                "title": step.title,
                "lines": [pool.setdefault(x, len(pool)) for x in lines],
                "born": births(step),
                "names": [
                    [titled(name, node), node.lineno, node.end_lineno]
                    for name, node in top_level(step.snapshot).items()
                ],
            }
        )
    equal = {
        f"{a}-{b}": equal_blocks(files[a]["lines"], files[b]["lines"])
        for a in range(1, len(files))
        for b in range(1, len(files))
        if a != b  # a diff and its reverse need not pair the same lines
    }
    course = {"pool": list(pool), "files": files, "equal": equal}
    return f"const COURSE = {json.dumps(course, ensure_ascii=False)};\n"


def equal_blocks(old: list[int], new: list[int]) -> list[list[int]]:
    """[start in old, start in new, length] of each equal stretch."""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [list(block) for block in matcher.get_matching_blocks()[:-1]]
