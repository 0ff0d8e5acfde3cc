"""Frozen snapshots: `steps/SHA256SUMS`, the root file, carrying a fix."""

import hashlib
import subprocess
import tempfile
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
    result = subprocess.run(
        ["git", "show", f"HEAD:{path}"], cwd=ROOT, capture_output=True
    )
    return result.stdout if result.returncode == 0 else None


def carry(number: int) -> list[Step]:
    """Take uncommitted edits of step `number` through all later snapshots.

    Each later file is merged with what changed in the one before it; where
    that conflicts, an edit that the maintainer has made there stands as the
    solution.  All files, the sums and the root file are written at the end,
    or none.  Returns the later steps that changed.
    """
    first = find_step(number)
    steps = [step for step in all_steps() if step.number >= number]
    before, after = committed(first), first.snapshot_file.read_bytes()
    merged = {first: after}
    for step in steps[1:]:
        current, original = step.snapshot_file.read_bytes(), committed(step)
        result = merge(current, before or after, after)
        if result.returncode == 0:
            after = result.stdout
        elif current != original:
            after = current
        else:
            raise TutorialError(conflict(step, result.stdout))
        merged[step], before = after, original
    texts = {step: step.snapshot_file.read_bytes() for step in all_steps()}
    changed = [step for step in merged if merged[step] != texts[step]]
    texts |= merged
    contents = {step.snapshot_file: merged[step] for step in changed}
    contents[ROOT_FILE] = texts[all_steps()[-1]]
    contents[SUMS] = sums_text(texts).encode("utf-8")
    write_all(contents)
    return changed


def merge(
    current: bytes, before: bytes, after: bytes
) -> subprocess.CompletedProcess:
    """Three-way merge by git; the exit status counts the conflicts."""
    with tempfile.TemporaryDirectory() as folder:
        files = [
            Path(folder) / name for name in ("current", "before", "after")
        ]
        for path, text in zip(files, (current, before, after), strict=True):
            path.write_bytes(text)
        command = ["git", "merge-file", "-p", *map(str, files)]
        result = subprocess.run(command, capture_output=True)
    if not 0 <= result.returncode <= 127:
        raise TutorialError(result.stderr.decode("utf-8", "replace"))
    return result


def conflict(step: Step, merged: bytes) -> str:
    lines = merged.decode("utf-8").splitlines()
    starts = (i for i, line in enumerate(lines) if line.startswith("<<<<<<<"))
    ends = (i for i, line in enumerate(lines) if line.startswith(">>>>>>>"))
    start, end = next(starts), next(ends)
    shown = "\n".join(lines[start : end + 1])
    return (
        f"{step.name}/transformer.py {start + 1}번째 줄에서 부딪힌다.\n"
        f"{shown}\n"
        "아무 파일도 바꾸지 않았다. 이 파일을 손으로 고친 뒤 다시 carry 한다."
    )
