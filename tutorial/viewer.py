"""What changed in `transformer.py`, as HTML for Jupyter and as plain text.

JupyterLab strips styles and attributes from notebooks it does not trust, so
the markup is `<pre>`, `<details>`, `<ins>`, `<del>`, `<b>` and `<i>` with a
few inline styles, and every line also reads right with all styles removed.
The same input always gives the same bytes.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from functools import lru_cache
from html import escape
from itertools import groupby

from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, String

from tutorial.errors import TutorialError
from tutorial.steps import Step, all_steps

CONTEXT = 3  # unchanged lines shown around a change
FOLD = 6  # a shorter unchanged stretch is not worth a click
SIGN = {"+": "+", "-": "−", " ": " "}

PRE = (
    "margin:0;padding:0;border:0;background:none;white-space:pre;"
    "overflow-x:auto;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"
    "'DejaVu Sans Mono',monospace"
)
ROW = "display:block;text-decoration:none;background:"
MARKUP = {
    "+": ("ins", ROW + "rgba(46,160,67,.18)"),
    "-": ("del", ROW + "rgba(248,81,73,.18)"),
}
SUMMARY = "cursor:pointer;padding:2px 0"
FOLDED = ";background:rgba(127,127,127,.12)"


@dataclass(frozen=True)
class Line:
    """A line of a diff; a number is None where the line does not exist."""

    sign: str  # "+", "-" or " "
    old: int | None
    new: int | None


class Change:
    """Two texts, line by line; numbers start where the texts start."""

    def __init__(self, old: str, new: str, old_start=1, new_start=1):
        self.old, self.new = old.splitlines(), new.splitlines()
        self.old_html, self.new_html = highlighted(old), highlighted(new)
        self.old_start, self.new_start = old_start, new_start
        self.lines = list(self._matched())
        self.added = sum(line.sign == "+" for line in self.lines)
        self.removed = sum(line.sign == "-" for line in self.lines)

    def _matched(self) -> Iterator[Line]:
        matcher = SequenceMatcher(None, self.old, self.new, autojunk=False)
        a, b = self.old_start, self.new_start
        for tag, a0, a1, b0, b1 in matcher.get_opcodes():
            if tag == "equal":
                for i, j in zip(range(a0, a1), range(b0, b1), strict=True):
                    yield Line(" ", a + i, b + j)
            else:
                yield from (Line("-", a + i, None) for i in range(a0, a1))
                yield from (Line("+", None, b + j) for j in range(b0, b1))

    def html(self, lines: list[Line]) -> str:
        """Rows of `old new sign code`."""
        rows = []
        for line in lines:
            if line.new is None:
                code = self.old_html[line.old - self.old_start]
            else:
                code = self.new_html[line.new - self.new_start]
            numbers = f"{line.old or '':>4} {line.new or '':>4}"
            rows.append((line.sign, f"{numbers} {SIGN[line.sign]} {code}"))
        return pre(rows)

    def unified(self, *names: str) -> list[str]:
        return list(
            unified_diff(self.old, self.new, *names, n=CONTEXT, lineterm="")
        )


class Diff:
    """The change from one step's file to another's; displays itself."""

    def __init__(self, old: Step | None, new: Step):
        self.old, self.new = old, new
        self.change = Change(old.snapshot if old else "", new.snapshot)

    def counts(self, minus: str = SIGN["-"]) -> str:
        """`+31 −0 · 파일 전체 196줄`; pass `-` for a console."""
        change = f"+{self.change.added} {minus}{self.change.removed}"
        return f"{change} · 파일 전체 {len(self.change.new)}줄"

    def __repr__(self) -> str:
        names = [
            f"{step.name}/transformer.py" if step else "(빈 파일)"
            for step in (self.old, self.new)
        ]
        return "\n".join([self.counts("-"), *self.change.unified(*names)])

    def _repr_html_(self) -> str:
        link = f"../steps/{self.new.name}/transformer.py"
        old = f"{self.old.number:02d}" if self.old else "빈 파일"
        change = f"<b>바뀐 곳</b> ({old} → {self.new.number:02d})"
        whole = "<b>파일 전체</b> (줄마다 생겨난 단계)"
        return (
            f"<p><code>{self.counts()}</code> · "
            f'<a href="{link}">transformer.py 열기</a></p>\n'
            + fold(change, self._change_html(), opened=True)
            + fold(whole, whole_file_html(self.new))
        )

    def _change_html(self) -> str:
        parts = []
        for lines, folded in stretches(self.change.lines):
            html = self.change.html(lines)
            if folded:
                inside = names_inside(
                    self.new.snapshot, lines[0].new, lines[-1].new
                )
                title = f"⋯ {inside} {len(lines)}줄"
                html = fold(title, html, style=SUMMARY + FOLDED)
            parts.append(html)
        return "".join(parts)


class History:
    """How one function or class came to be: each step that changed it."""

    def __init__(self, name: str, last: Step):
        self.name = name
        self.changes: list[tuple[Step, Change]] = []
        old, old_start = "", 1
        for step in steps_up_to(last):
            new, new_start = definition(step.snapshot, name)
            if new != old:
                change = Change(old, new, old_start, new_start)
                self.changes.append((step, change))
            old, old_start = new, new_start
        if not self.changes:
            names = ", ".join(top_level(last.snapshot))
            raise TutorialError(
                f"{last.number}단계의 transformer.py에 {name!r}는 없다. "
                f"있는 이름: {names}"
            )

    def __repr__(self) -> str:
        parts = [self.name]
        for step, change in self.changes:
            parts += [f"{step.number:02d} {step.title}", *change.unified()[2:]]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        parts = [f"<p><code>{escape(self.name)}</code>의 역사</p>\n"]
        for step, change in self.changes:
            counts = f"+{change.added} {SIGN['-']}{change.removed}"
            title = f"{step.number:02d} {escape(step.title)}: {counts}"
            parts.append(fold(title, change.html(change.lines), opened=True))
        return "".join(parts)


def stretches(lines: list[Line]) -> Iterator[tuple[list[Line], bool]]:
    """Cut a diff into shown and folded stretches; True means folded."""
    changed = [i for i, line in enumerate(lines) if line.sign != " "]
    near = {j for i in changed for j in range(i - CONTEXT, i + CONTEXT + 1)}
    for shown, group in groupby(
        enumerate(lines), lambda item: item[0] in near
    ):
        stretch = [line for _, line in group]
        yield stretch, not shown and len(stretch) >= FOLD


def pre(rows: list[tuple[str, str]]) -> str:
    """Signed rows as a `<pre>`; a run of one sign shares one tag."""
    parts = []
    for sign, group in groupby(rows, lambda row: row[0]):
        text = "".join(row.rstrip() + "\n" for _, row in group)
        if sign == " ":
            parts.append(text)
        else:
            tag, style = MARKUP[sign]
            parts.append(f'<{tag} style="{style}">{text}</{tag}>')
    return f'<pre style="{PRE}">{"".join(parts)}</pre>\n'


def fold(title: str, inside: str, opened=False, style=SUMMARY) -> str:
    details = "<details open>" if opened else "<details>"
    summary = f'<summary style="{style}">{title}</summary>'
    return f"{details}{summary}\n{inside}</details>\n"


def whole_file_html(step: Step) -> str:
    """Rows of `born line sign code`; this step's own lines are marked."""
    rows = []
    code = zip(births(step), highlighted(step.snapshot), strict=True)
    for number, (born, text) in enumerate(code, 1):
        sign = "+" if born == step.number else " "
        rows.append((sign, f"{born:02d} {number:>4} {sign} {text}"))
    return pre(rows)


def births(step: Step) -> list[int]:
    """For each line of a snapshot, the step that wrote it as it now reads."""
    text, born = "", []
    for earlier in steps_up_to(step):
        born = [
            earlier.number if line.sign == "+" else born[line.old - 1]
            for line in Change(text, earlier.snapshot).lines
            if line.new is not None
        ]
        text = earlier.snapshot
    return born


def steps_up_to(step: Step) -> list[Step]:
    return [other for other in all_steps() if other.number <= step.number]


@lru_cache(maxsize=64)
def highlighted(text: str) -> list[str]:
    """HTML of each line: keywords and defined names bold, prose in italics."""
    lines = [""]
    for token, value in PythonLexer(stripnl=False).get_tokens(text):
        if token in Keyword or token in Name.Class or token in Name.Function:
            tag = "b"
        elif token in Comment or token in String.Doc:
            tag = "i"
        else:
            tag = None
        for i, piece in enumerate(value.split("\n")):
            if i:
                lines.append("")
            if tag and piece.strip():
                lines[-1] += f"<{tag}>{escape(piece, quote=False)}</{tag}>"
            else:
                lines[-1] += escape(piece, quote=False)
    return lines[: len(text.splitlines())]


def top_level(text: str) -> dict[str, ast.AST]:
    """The functions and classes of a file, by name, in order."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    body = ast.parse(text).body
    return {node.name: node for node in body if isinstance(node, kinds)}


def titled(name: str, node: ast.AST) -> str:
    return f"class {name}" if isinstance(node, ast.ClassDef) else name


def definition(text: str, name: str) -> tuple[str, int]:
    """The source of one function or class and its first line number."""
    node = top_level(text).get(name)
    if node is None:
        return "", 1
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    lines = text.splitlines()[first - 1 : node.end_lineno]
    return "\n".join(lines) + "\n", first


def names_inside(text: str, first: int, last: int) -> str:
    """What a folded stretch holds: `class A … class C`."""
    inside = [
        titled(name, node)
        for name, node in top_level(text).items()
        if node.lineno <= last and node.end_lineno >= first
    ]
    if not inside:
        return "머리말"
    if len(inside) > 3:
        inside = [inside[0], "…", inside[-1]]
        return " ".join(inside)
    return ", ".join(inside)
