"""What "frozen" means: `steps/SHA256SUMS`, the root file, and carrying a fix."""

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

    Each later file is merged with what changed in the one before it.  All
    files, the sums and the root file are written at the end, or none.
    Returns the later steps that changed.
    """
    first = find_step(number)
    steps = [step for step in all_steps() if step.number >= number]
    before, after = committed(first), first.snapshot_file.read_bytes()
    merged = {first: after}
    for step in steps[1:]:
        current = step.snapshot_file.read_bytes()
        if before is not None:
            after = merge(step, current, before, after)
        else:
            after = current
        merged[step] = after
        before = committed(step)
    texts = {step: step.snapshot_file.read_bytes() for step in all_steps()}
    changed = [step for step in merged if merged[step] != texts[step]]
    texts |= merged
    contents = {step.snapshot_file: merged[step] for step in changed}
    contents[ROOT_FILE] = texts[all_steps()[-1]]
    contents[SUMS] = sums_text(texts).encode("utf-8")
    write_all(contents)
    return changed


def merge(step: Step, current: bytes, before: bytes, after: bytes) -> bytes:
    """Three-way merge by `git merge-file`; a conflict is an error."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, text in (
            ("current", current),
            ("before", before),
            ("after", after),
        ):
            files.append(Path(folder) / name)
            files[-1].write_bytes(text)
        result = subprocess.run(
            ["git", "merge-file", "-p", *map(str, files)], capture_output=True
        )
    if result.returncode < 0 or result.returncode > 127:
        raise TutorialError(f"git merge-file: {result.stderr.decode()}")
    if result.returncode:
        lines = result.stdout.decode("utf-8").splitlines()
        at = next(
            i for i, line in enumerate(lines, 1) if line.startswith("<<<<<<<")
        )
        raise TutorialError(
            f"{step.name}/transformer.py {at}번째 줄에서 부딪힌다. 아무 파일도 바꾸지 "
            f"않았다. 그 파일을 손으로 고친 뒤 다시 carry 한다.\n"
            + "\n".join(lines[at - 1 : at + 12])
        )
    return result.stdout
