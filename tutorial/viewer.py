"""What changed in `transformer.py`, as HTML for Jupyter and as plain text.

JupyterLab strips styles and attributes from notebooks it does not trust, so
the markup is `<pre>`, `<details>`, `<ins>`, `<del>`, `<b>` and `<i>` with a
few inline styles, and every line also reads right with all styles removed.
The same input always gives the same bytes.
"""

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, String

from tutorial.errors import TutorialError
from tutorial.steps import Step, all_steps

CONTEXT = 3  # unchanged lines shown around a change
FOLD = 6  # a shorter unchanged stretch is not worth a click

PRE = (
    "margin:0;padding:0;border:0;background:none;white-space:pre;"
    "overflow-x:auto;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"
    "'DejaVu Sans Mono',monospace"
)
INS = "display:block;text-decoration:none;background:rgba(46,160,67,.18)"
DEL = "display:block;text-decoration:none;background:rgba(248,81,73,.18)"
SUMMARY = "cursor:pointer;padding:2px 0"
FOLDED = SUMMARY + ";background:rgba(127,127,127,.12)"


@dataclass(frozen=True)
class Line:
    """A line of a diff; a number is None where the line does not exist."""

    sign: str  # "+", "-" or " "
    old: int | None
    new: int | None


class Diff:
    """The change from one step's file to another's; displays itself."""

    def __init__(self, old: Step | None, new: Step):
        self.old, self.new = old, new
        self.old_text = old.snapshot if old else ""
        self.new_text = new.snapshot
        self.lines = list(diff_lines(self.old_text, self.new_text))

    @property
    def added(self) -> int:
        return sum(line.sign == "+" for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.sign == "-" for line in self.lines)

    @property
    def span(self) -> str:
        old = f"{self.old.number:02d}" if self.old else "빈 파일"
        return f"{old} → {self.new.number:02d}"

    def counts(self, minus: str = "−") -> str:
        """`+31 −0 · 파일 전체 181줄`; pass `-` for a console."""
        total = len(self.new_text.splitlines())
        change = f"+{self.added} {minus}{self.removed}"
        return f"{change} · 파일 전체 {total}줄"

    def __str__(self) -> str:
        unified = difflib.unified_diff(
            self.old_text.splitlines(),
            self.new_text.splitlines(),
            f"{self.old.name}/transformer.py" if self.old else "(empty)",
            f"{self.new.name}/transformer.py",
            n=CONTEXT,
            lineterm="",
        )
        return "\n".join([self.counts("-"), *unified])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        link = f"../steps/{self.new.name}/transformer.py"
        return (
            f"<p><code>{self.counts()}</code> · "
            f'<a href="{link}">transformer.py 열기</a></p>\n'
            f'<details open><summary style="{SUMMARY}">'
            f"<b>바뀐 곳</b> ({self.span})</summary>\n"
            f"{self._change_html()}</details>\n"
            f'<details><summary style="{SUMMARY}">'
            f"<b>파일 전체</b> (줄마다 생겨난 단계)</summary>\n"
            f"{whole_file_html(self.new)}</details>"
        )

    def _change_html(self) -> str:
        parts = []
        for lines, folded in stretches(self.lines):
            rows = pre(diff_rows(lines, self.old_text, self.new_text))
            if folded:
                inside = names_inside(
                    self.new_text, lines[0].new, lines[-1].new
                )
                rows = (
                    f'<details><summary style="{FOLDED}">⋯ '
                    f"{escape(inside)} {len(lines)}줄</summary>{rows}</details>\n"
                )
            parts.append(rows)
        return "".join(parts)


class History:
    """How one function or class came to be: each step that changed it."""

    def __init__(self, name: str, last: Step):
        self.name = name
        self.changes: list[tuple[Step, str, str, int, int]] = []
        before, old_start = "", 1
        for step in all_steps():
            if step.number > last.number:
                break
            text, start = definition(step.snapshot, name)
            if text != before:
                self.changes.append((step, before, text, old_start, start))
            before, old_start = text, start
        if not self.changes:
            names = ", ".join(top_level(last.snapshot))
            raise TutorialError(
                f"{last.number}단계의 transformer.py에 {name!r}는 없다. "
                f"있는 이름: {names}"
            )

    def _titles(self) -> Iterator[tuple[str, list[Line], str, str]]:
        for step, old, new, old_start, new_start in self.changes:
            lines = list(diff_lines(old, new, old_start, new_start))
            added = sum(line.sign == "+" for line in lines)
            removed = sum(line.sign == "-" for line in lines)
            title = f"{step.number:02d} {step.title}"
            yield f"{title}: +{added} −{removed}", lines, old, new

    def __str__(self) -> str:
        parts = [self.name]
        for step, old, new, _, _ in self.changes:
            unified = difflib.unified_diff(
                old.splitlines(), new.splitlines(), n=CONTEXT, lineterm=""
            )
            parts += [f"{step.number:02d} {step.title}", *list(unified)[2:]]
        return "\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [f"<p><code>{escape(self.name)}</code>의 역사</p>\n"]
        for title, lines, old, new in self._titles():
            starts = (
                next((n.old for n in lines if n.old), 1),
                next((n.new for n in lines if n.new), 1),
            )
            rows = pre(diff_rows(lines, old, new, *starts))
            parts.append(
                f'<details open><summary style="{SUMMARY}">'
                f"{escape(title)}</summary>\n{rows}</details>\n"
            )
        return "".join(parts)


def diff_lines(
    old: str, new: str, old_start: int = 1, new_start: int = 1
) -> Iterator[Line]:
    """The lines of both texts in reading order, as difflib matches them."""
    a, b = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "equal":
            for i, j in zip(range(a0, a1), range(b0, b1), strict=True):
                yield Line(" ", old_start + i, new_start + j)
        else:
            for i in range(a0, a1):
                yield Line("-", old_start + i, None)
            for j in range(b0, b1):
                yield Line("+", None, new_start + j)


def stretches(lines: list[Line]) -> Iterator[tuple[list[Line], bool]]:
    """Cut a diff into shown and folded stretches; True means folded."""
    changed = [i for i, line in enumerate(lines) if line.sign != " "]
    near = {j for i in changed for j in range(i - CONTEXT, i + CONTEXT + 1)}
    start = 0
    for i in range(1, len(lines) + 1):
        if i < len(lines) and (i in near) == (start in near):
            continue
        stretch = lines[start:i]
        if start in near or len(stretch) < FOLD:
            yield stretch, False
        else:
            yield stretch, True
        start = i


def diff_rows(
    lines: list[Line],
    old_text: str,
    new_text: str,
    old_start: int = 1,
    new_start: int = 1,
) -> str:
    """Rows of `old new sign code`; runs of one sign share one tag."""
    old_code, new_code = highlighted(old_text), highlighted(new_text)
    rows, run, sign = [], [], " "
    for line in lines:
        if line.sign != sign:
            rows.append(wrap(sign, run))
            run, sign = [], line.sign
        if line.new is None:
            code = old_code[line.old - old_start]
        else:
            code = new_code[line.new - new_start]
        shown = "−" if line.sign == "-" else line.sign
        old = "" if line.old is None else line.old
        new = "" if line.new is None else line.new
        run.append(f"{old:>4} {new:>4} {shown} {code}".rstrip() + "\n")
    rows.append(wrap(sign, run))
    return "".join(rows)


def wrap(sign: str, rows: list[str]) -> str:
    text = "".join(rows)
    if not text or sign == " ":
        return text
    tag, style = ("ins", INS) if sign == "+" else ("del", DEL)
    return f'<{tag} style="{style}">{text}</{tag}>'


def pre(rows: str) -> str:
    return f'<pre style="{PRE}">{rows}</pre>\n'


def whole_file_html(step: Step) -> str:
    """Every line with its number and, before it, the step it was born in."""
    rows, run, is_new = [], [], False
    code = highlighted(step.snapshot)
    for number, (born, text) in enumerate(
        zip(births(step), code, strict=True), 1
    ):
        if (born == step.number) != is_new:
            rows.append(wrap("+" if is_new else " ", run))
            run, is_new = [], not is_new
        sign = "+" if is_new else " "
        run.append(f"{born:02d} {number:>4} {sign} {text}".rstrip() + "\n")
    rows.append(wrap("+" if is_new else " ", run))
    return pre("".join(rows))


def births(step: Step) -> list[int]:
    """For each line of a snapshot, the step that wrote it as it now reads."""
    text, born = "", []
    for earlier in all_steps():
        if earlier.number > step.number:
            break
        lines = diff_lines(text, earlier.snapshot)
        born = [
            earlier.number if line.sign == "+" else born[line.old - 1]
            for line in lines
            if line.new is not None
        ]
        text = earlier.snapshot
    return born


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
        ("class " if isinstance(node, ast.ClassDef) else "") + name
        for name, node in top_level(text).items()
        if node.lineno <= last and node.end_lineno >= first
    ]
    if not inside:
        return "머리말"
    if len(inside) > 3:
        inside = [inside[0], "…", inside[-1]]
        return " ".join(inside)
    return ", ".join(inside)
