"""Frozen snapshots: `steps/SHA256SUMS`, the root file, carrying a fix."""

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Collection
from pathlib import Path

from tutorial.errors import TutorialError
from tutorial.files import write_all
from tutorial.steps import ROOT, STEPS, Step, all_steps, find_step

SUMS = STEPS / "SHA256SUMS"
ROOT_FILE = ROOT / "transformer.py"


def sums_text(texts: dict[Step, bytes]) -> str:
    """The sums in the format of the command `sha256sum`."""
    return "".join(
        f"{hashlib.sha256(text).hexdigest()}  {step.name}/transformer.py\n"
        for step, text in texts.items()
    )


def problems() -> list[str]:
    """Each snapshot that is not as it was frozen, in a sentence."""
    texts = {step: step.snapshot_file.read_bytes() for step in all_steps()}
    expected = SUMS.read_text(encoding="utf-8").splitlines()
    actual = sums_text(texts).splitlines()
    found = [
        f"{line[66:]}: SHA256SUMS와 다르다"
        for line in actual
        if line not in expected
    ]
    names = {line[66:] for line in actual}
    found += [
        f"{line[66:]}: 없다" for line in expected if line[66:] not in names
    ]
    last = all_steps()[-1]
    if ROOT_FILE.read_bytes() != texts[last]:
        found.append(f"transformer.py: {last.name}/transformer.py와 다르다")
    return found


def committed(step: Step) -> bytes | None:
    """The snapshot as the last commit has it; None if it is new."""
    path = step.snapshot_file.relative_to(ROOT).as_posix()
    result = git("show", f"HEAD:./{path}")
    return result.stdout if result.returncode == 0 else None


def git(*arguments: str) -> subprocess.CompletedProcess:
    # In a hook, git's own variables would point at another repository.
    own = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    command = ["git", *arguments]
    try:
        return subprocess.run(command, cwd=ROOT, env=own, capture_output=True)
    except FileNotFoundError:
        raise TutorialError("git이 없다. carry는 git으로 합친다.") from None


def carry(number: int, solved: Collection[int] = ()) -> list[Step]:
    """Take uncommitted edits of step `number` through all later snapshots.

    Each later file is merged with what changed in the one before it; those
    in `solved` stand as the maintainer has edited them.  All files, the sums
    and the root file are written at the end, or none.  A step that was never
    committed has nothing to carry: it is frozen as it is.
    Returns the later steps that changed.
    """
    if git("rev-parse", "HEAD").returncode:
        raise TutorialError("carry는 마지막 커밋과 견주는데, 커밋이 없다.")
    texts = {step: text_of(step) for step in all_steps()}
    for step, text in texts.items():
        if step.number < number and committed(step) not in (None, text):
            raise TutorialError(
                f"{step.number}단계를 고쳤다. carry {step.number}부터 한다."
            )
    first = find_step(number)
    before, after = committed(first), texts[first]
    if before == after:
        raise TutorialError(
            f"{first.name}/transformer.py에 커밋하지 않은 고침이 없다. "
            "carry는 고친 뒤, 커밋하기 전에 한다."
        )
    merged = {first: after}
    before = after if before is None else before
    for step, current in texts.items():
        if step.number <= number:
            continue
        original = committed(step)
        result = merge(current, before, after)
        if step.number in solved:
            after = current
        elif result.returncode:
            raise TutorialError(conflict(step, current, result.stdout))
        else:
            after = result.stdout
        merged[step] = after
        before = current if original is None else original
    changed = [step for step in merged if merged[step] != texts[step]]
    texts |= merged
    contents = {step.snapshot_file: texts[step] for step in merged}
    contents[ROOT_FILE] = texts[all_steps()[-1]]
    contents[SUMS] = sums_text(texts).encode("utf-8")
    write_all(contents)
    return changed


def text_of(step: Step) -> bytes:
    """The snapshot with LF, whatever an editor made of its line ends."""
    return step.snapshot_file.read_bytes().replace(b"\r\n", b"\n")


def merge(
    current: bytes, before: bytes, after: bytes
) -> subprocess.CompletedProcess:
    """Three-way merge by git; the exit status counts the conflicts."""
    with tempfile.TemporaryDirectory() as folder:
        names = ("current", "before", "after")
        files = [str(Path(folder) / name) for name in names]
        for path, text in zip(files, (current, before, after), strict=True):
            Path(path).write_bytes(text)
        labels = ("-L", "여기", "-L", "앞 단계 전", "-L", "앞 단계 후")
        result = git("merge-file", "-p", *labels, *files)
    if not 0 <= result.returncode <= 127:
        raise TutorialError(result.stderr.decode("utf-8", "replace"))
    return result


def conflict(step: Step, current: bytes, merged: bytes) -> str:
    lines = merged.decode("utf-8").splitlines()
    start, middle, end = (
        next(i for i, line in enumerate(lines) if line.startswith(mark))
        for mark in ("<<<<<<<", "=======", ">>>>>>>")
    )
    shown = "\n".join(lines[start : end + 1])
    own = current.decode("utf-8").splitlines()
    line = 1 + where(own, lines[start + 1 : middle], near=start)
    return (
        f"{step.name}/transformer.py {line}번째 줄에서 부딪힌다.\n{shown}\n"
        "아무 파일도 바꾸지 않았다. 이 파일을 손으로 고친 뒤 "
        f"--solved {step.number}을 덧붙여 다시 carry 한다."
    )


def where(lines: list[str], piece: list[str], near: int) -> int:
    """Where the piece stands in the lines; nearest, if more than once."""
    n = len(piece)
    starts = range(len(lines) - n + 1)
    found = [i for i in starts if lines[i : i + n] == piece]
    return min(found, key=lambda i: abs(i - near))
