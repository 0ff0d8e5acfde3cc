"""How many small mistakes the tests, and a step's own notebook, notice.

    python -m tests.mutants         all steps (hours); goes on where it stopped
    python -m tests.mutants 3 7     these steps

A mutant is a snapshot with one small change in a line that its step added.
Only what is executed is damaged: what is shown, summed and diffed is still
the committed text, so that neither a diff nor a checksum can catch anything.
Results are kept in build/mutants/, a line for each mutant.
"""

import argparse
import ast
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm

from tests import nbval
from tests.survivors import HARMLESS
from tutorial.steps import (
    EXECUTED_STEPS,
    ROOT,
    STEPS,
    Step,
    all_steps,
    find_step,
    neighbours,
)
from tutorial.viewer import Diff

RESULTS = ROOT / "build" / "mutants"
EACH = 40  # mutants of a step, at most
SEED = 0
LIMIT = 60  # seconds; a test that takes longer hangs, and so has noticed

# What loads snapshots, and from which step on; other tests compare texts,
# sums and pages.  The newest first: they notice most in what a step adds.
UNIT_TESTS = {
    "decoding": 18,
    "translator": 18,
    "checkpoints": 17,
    "data": 16,
    "training": 10,
    "model": 7,
    "parts": 3,
    "attention": 1,
    "signatures": 1,
}
PYTEST = [sys.executable, "-m", "pytest", "-o", "addopts=", "-x", "-q"]
PYTEST += ["-p", "no:cacheprovider", "--hypothesis-profile=mutants"]
PYTEST += ["-o", f"faulthandler_timeout={LIMIT}"]
PYTEST += ["-o", "faulthandler_exit_on_timeout=true"]

OTHER = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.MatMult: ("@", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}


@dataclass(frozen=True)
class Mutant:
    """A snapshot with `old` at one place replaced by `new`."""

    line: int
    old: str
    new: str
    text: str

    @property
    def id(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()[:12]

    def __str__(self) -> str:
        return f"line {self.line}: {self.old!r} -> {self.new!r}"


def mutants(step: Step) -> list[Mutant]:
    """All that differ from the snapshot, and from one another, as code."""
    text = step.snapshot
    before, _ = neighbours(step)
    added = {
        line.new
        for line in Diff(before, step).change.lines
        if line.sign == "+"
    }
    seen = {ast.dump(ast.parse(text))}
    found = []
    for node, start, end, new in changes(text):
        lines = range(node.lineno, node.end_lineno + 1)
        if not added.issuperset(lines):
            continue
        damaged = text[:start] + new + text[end:]
        try:
            code = ast.dump(ast.parse(damaged))
        except SyntaxError:
            continue
        if code not in seen:
            seen.add(code)
            line = text.count("\n", 0, start) + 1
            found.append(Mutant(line, text[start:end], new, damaged))
    return found


@cache
def drawn(step: Step) -> list[Mutant]:
    every = mutants(step)
    chosen = random.Random(f"{SEED} {step.name}").sample(
        every, min(EACH, len(every))
    )
    return sorted(chosen, key=lambda mutant: mutant.line)


def changes(text: str) -> Iterator[tuple[ast.AST, int, int, str]]:
    """(node, start, end, new): each small change of a piece of the text."""
    place = Places(text)
    for node in outside_messages(ast.parse(text)):
        whole = place.span(node) if hasattr(node, "lineno") else None
        match node:
            case ast.BinOp(left, op, right):
                yield from operator(place, node, left, op, right)
            case ast.AugAssign(target, op, value):
                yield from operator(place, node, target, op, value)
                yield node, *whole, "pass"
            case ast.Compare(left, [op], [right]):
                yield from operator(place, node, left, op, right)
            case ast.BoolOp(op, [left, right, *_]):
                yield from operator(place, node, left, op, right)
            case ast.UnaryOp(operand=operand):
                yield node, *whole, place.text(operand)
            case ast.Constant(bool() as value):
                yield node, *whole, str(not value)
            case ast.Constant(int() | float() as value):
                yield node, *whole, str(value + 1)
            case ast.Call():
                yield from of_a_call(place, node)
            case ast.If(test) | ast.While(test) | ast.IfExp(test=test):
                yield test, *place.span(test), f"(not ({place.text(test)}))"
            case ast.Expr(ast.Call()):
                yield node, *whole, "pass"


def operator(place, node, left, op, right):
    old, new = OTHER[type(op)]
    start, end = place.span(left)[1], place.span(right)[0]
    between = re.search(
        r"(?<![\w*/<>=!])" + re.escape(old) + r"(?![\w*/<>])",
        place.source[start:end],
    )
    yield node, start + between.start(), start + between.end(), new


def of_a_call(place, node):
    """Drop the call, swap its first arguments, leave a keyword out."""
    whole = place.span(node)
    plain = [a for a in node.args if not isinstance(a, ast.Starred)]
    if isinstance(node.func, ast.Attribute) and not isinstance(
        node.func.value, ast.Name
    ):
        yield node, *whole, place.text(node.func.value)
    if len(node.args) == len(plain) == 1 and not node.keywords:
        yield node, *whole, place.text(plain[0])
    if len(plain) >= 2 and plain == node.args[: len(plain)]:
        first, second = plain[:2]
        start, end = place.span(first)[0], place.span(second)[1]
        between = place.source[place.span(first)[1] : place.span(second)[0]]
        swapped = place.text(second) + between + place.text(first)
        yield node, start, end, swapped
    for keyword in node.keywords:
        if keyword.arg is None:
            continue
        start, end = place.span(keyword)
        rest = re.match(r"\s*,\s*", place.source[end:])
        yield node, start, end + (rest.end() if rest else 0), ""


def outside_messages(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of error messages, f-strings and annotations."""
    yield tree
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(
                child, ast.Raise | ast.JoinedStr
            ):
                yield from outside_messages(child)


class Places:
    """Where the nodes of a text stand in it."""

    def __init__(self, source: str):
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        before = self.lines[line - 1].encode("utf-8")[:column]
        return self.starts[line - 1] + len(before.decode("utf-8"))

    def span(self, node: ast.AST) -> tuple[int, int]:
        return (
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno, node.end_col_offset),
        )

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.source[start:end]


# ------------------------------------------------------------ catching them


@contextmanager
def executed(step: Step, text: str) -> Iterator[dict[str, str]]:
    """The environment in which this step's file reads so."""
    with TemporaryDirectory() as folder:
        steps = shutil.copytree(STEPS, Path(folder) / "steps")
        for name in ("data", "models", "tutorial"):  # what a step looks for
            (Path(folder) / name).symlink_to(ROOT / name)
        damaged = steps / step.name / "transformer.py"
        damaged.write_text(text, encoding="utf-8", newline="\n")
        yield {EXECUTED_STEPS: str(steps)}


def caught(step: Step, text: str) -> dict[str, bool]:
    """Who notices when this step's file reads so when it is executed."""
    with executed(step, text) as where:
        environment = {**where, "OMP_NUM_THREADS": "1", "PYTEST_ADDOPTS": ""}
        return {
            "tests": not unit_tests_are_green(step, environment),
            "notebook": not nbval.check([step], **environment)[0],
        }


def unit_tests_are_green(step: Step, environment: dict[str, str]) -> bool:
    others = [s.name for s in all_steps() if s != step]
    chosen = f"{step.name} or not ({' or '.join(others)})"
    files = [
        f"tests/test_{name}.py"
        for name, first in UNIT_TESTS.items()
        if first <= step.number
    ]
    result = subprocess.run(
        [*PYTEST, *files, "-k", chosen],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
    )
    return result.returncode == 0


def run(step: Step) -> None:
    file = RESULTS / f"{step.name}.jsonl"
    # What survived is tried again: the tests may be better by now.
    done = {
        row["id"]
        for row in rows(step)
        if not survived(row) or is_harmless(step, row)
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    left = [mutant for mutant in drawn(step) if mutant.id not in done]

    def tried(mutant: Mutant) -> dict:
        known = {"id": mutant.id, "what": str(mutant)}
        return known | caught(step, mutant.text)

    pool = ThreadPoolExecutor(os.cpu_count())  # its threads wait, no more
    try:
        tries = [pool.submit(tried, mutant) for mutant in left]
        for done in tqdm(as_completed(tries), step.name, len(tries)):
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(done.result()) + "\n")
    finally:
        pool.shutdown(cancel_futures=True)


def rows(step: Step) -> list[dict]:
    """What is known of the mutants that are drawn today."""
    file = RESULTS / f"{step.name}.jsonl"
    if not file.exists():
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    last = {row["id"]: row for row in map(json.loads, lines)}
    return [last[m.id] for m in drawn(step) if m.id in last]


def report(steps: list[Step]) -> None:
    print("step               mutants  tests  notebook  either  harmless")
    for step in steps:
        found = rows(step)
        harmless = [r for r in found if is_harmless(step, r)]
        counted = [r for r in found if r not in harmless]
        n = len(counted)
        either = n - sum(map(survived, counted))
        print(
            f"{step.name:18} {n:7} {sum(r['tests'] for r in counted):6} "
            f"{sum(r['notebook'] for r in counted):9} {either:7} "
            f"{len(harmless):9}"
        )
        for row in counted:
            if survived(row):
                print(f"    survived: {row['what']}")


def survived(row: dict) -> bool:
    return not (row["tests"] or row["notebook"])


def is_harmless(step: Step, row: dict) -> bool:
    return survived(row) and row["what"] in HARMLESS.get(step.name, {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("steps", type=int, nargs="*", help="only these")
    numbers = parser.parse_args().steps
    steps = [find_step(n) for n in numbers] if numbers else all_steps()
    for step in steps:
        run(step)
    report(steps)


if __name__ == "__main__":
    main()
