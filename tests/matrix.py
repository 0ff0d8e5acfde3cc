"""Whether the course prints the same under other circumstances.

    python -m tests.matrix                    all rows (an hour or two)
    python -m tests.matrix euc-kr read-only   these rows

A row is a circumstance: another number of threads, another locale and so on.
The committed notebooks run in it under nbval, each step's demo must print
what its notebook shows, and the command line what it prints here.  A row
without a difference is kept in build/matrix/, and runs again only when what
it ran has changed.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import zip_longest
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

from tqdm import tqdm

from tests import nbval
from tests.notebooks import cell_of_demo, printed
from tutorial.steps import ROOT, Step, all_steps

RESULTS = ROOT / "build" / "matrix"
TORCH = "2.14.1"  # the release after that of requirements.txt
LIMIT = 1800  # seconds; what takes longer hangs, and is a difference

# Instructions in torch's words and, from each on, in oneDNN's.
LEVELS = ["default", "avx2", "avx512"]
ISAS = ["SSE41", "AVX2", "AVX512_CORE"]

# What notebooks, demos and commands execute and show.
READ = ("data", "models", "notebooks", "steps", "tutorial")
READ += ("requirements.txt", "transformer.py")

# What every row has in common, unless it says otherwise: None is not set.
PLAIN = {
    "PYTHONUTF8": "1",
    "PYTHONIOENCODING": None,
    "PYTHONPATH": None,
    "PYTEST_ADDOPTS": None,
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "OMP_WAIT_POLICY": "PASSIVE",  # others work on these cores too
}


class NotHere(Exception):
    """A row cannot be tried on this machine: why, and what would help."""


@dataclass(frozen=True)
class Setting:
    """Where, how and in which environment a process starts."""

    environment: Mapping[str, str | None] = field(default_factory=dict)
    folder: Path = ROOT
    python: str = sys.executable
    inside: tuple[str, ...] = ()  # a command that runs the one behind it
    encoding: str = "utf-8"  # of the terminal
    note: str = ""

    def run(
        self, *arguments: str | bytes, cwd: str = "", **more: str
    ) -> CompletedProcess[bytes]:
        environment = {**os.environ, **PLAIN, **self.environment, **more}
        return subprocess.run(
            [*self.inside, self.python, *arguments],
            cwd=self.folder / cwd,
            env={k: v for k, v in environment.items() if v is not None},
            capture_output=True,
            timeout=LIMIT,
        )


# ------------------------------------------------------- what runs in a row


def in_notebook(setting: Setting, step: Step) -> str:
    """What nbval noticed first, in a line; empty if it is green."""
    options = [word for word in nbval.COMMAND[1:] if word != "-x"]
    result = setting.run(*options, f"notebooks/{step.name}.ipynb")
    if result.returncode == 0:
        return ""
    output = result.stdout.decode(setting.encoding, "replace")
    output = re.sub(r"\x1b\[[0-9;]*m", "", output)
    red = len(re.findall(r"^_+ .*Cell \d+ _+$", output, re.MULTILINE))
    said = re.findall(
        r"^ *(mismatch '.*|Missing output .*|Unexpected output .*|"
        r"dissimilar .*|Timeout .*|\w+Error: .*|E  .*|  [-+] .*)$",
        output,
        re.MULTILINE,
    )
    first = " ".join(" ".join(said[:3]).split()) or last_line(result)
    return f"{red} cells, {first}"


def in_demo(setting: Setting, step: Step) -> str:
    """How the demo differs from what its notebook shows."""
    # On a terminal of ASCII, print itself refuses every 한글.
    lenient = {"PYTHONIOENCODING": ":replace"}
    more = lenient if setting.encoding == "ascii" else {}
    result = setting.run("demo.py", cwd=f"steps/{step.name}", **more)
    return difference(result, printed(cell_of_demo(step)), setting.encoding)


def in_command(setting: Setting, command: tuple[str, ...]) -> str:
    # In a locale of ASCII the terminal is still one of UTF-8.
    typed = "utf-8" if setting.encoding == "ascii" else setting.encoding
    result = setting.run(*(word.encode(typed) for word in command))
    return difference(result, printed_here(command), setting.encoding)


@lru_cache
def printed_here(command: tuple[str, ...]) -> str:
    return Setting().run(*command).stdout.decode("utf-8")


def difference(
    result: CompletedProcess[bytes], expected: str, encoding: str
) -> str:
    """The first difference in a line; empty if there is none."""
    if result.returncode or result.stderr:
        return last_line(result)
    # A line of progress is rewritten; what stays is behind the last return.
    got = [
        line.split("\r")[-1]
        for line in result.stdout.decode(encoding, "replace").split("\n")
    ]
    # What the terminal lacks comes out as a question mark.
    wanted = expected.encode(encoding, "replace").decode(encoding).split("\n")
    for new, old in zip_longest(got, wanted):
        if new != old:
            return f"{new!r} in place of {old!r}"
    return ""


def last_line(result: CompletedProcess[bytes]) -> str:
    text = (result.stdout + b"\n" + result.stderr).decode("utf-8", "replace")
    said = text.strip().splitlines()
    return f"exit code {result.returncode}: {said[-1] if said else 'silent'}"


# What compares in each part of a row, and what it compares.
PARTS = {
    "notebooks": (in_notebook, all_steps()),
    "demos": (in_demo, all_steps()),
    "commands": (
        in_command,
        [
            ("transformer.py", "translate", "나는 어제 산 책을 읽었다."),
            ("-m", "tutorial", "diff", "6", "7"),
            ("-m", "tutorial", "frozen"),
        ],
    ),
}


# ------------------------------------------------------------------ the rows


@contextmanager
def variables(**environment: str | None) -> Iterator[Setting]:
    yield Setting(environment)


@contextmanager
def aten(level: str) -> Iterator[Setting]:
    # torch trusts the variable: without the instructions it would crash.
    if level not in levels():
        raise NotHere(f"this processor has no {level}")
    yield Setting({"ATEN_CPU_CAPABILITY": level})


@contextmanager
def onednn(isa: str, level: str) -> Iterator[Setting]:
    note = "" if level in levels() else "no cap: this processor has less"
    yield Setting({"ONEDNN_MAX_CPU_ISA": isa}, note=note)


@lru_cache
def levels() -> list[str]:
    """What this processor has of LEVELS."""
    code = "import torch; print(torch.backends.cpu.get_cpu_capability())"
    widest = Setting({"ATEN_CPU_CAPABILITY": None}).run("-c", code)
    has = widest.stdout.decode("utf-8").strip().lower()
    return LEVELS[: LEVELS.index(has) + 1] if has in LEVELS else LEVELS[:1]


@contextmanager
def another_torch() -> Iterator[Setting]:
    """requirements.txt with another torch, installed once."""
    home = RESULTS / f"torch-{TORCH}"
    python = str(home / "bin" / "python")
    ours = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    wanted = re.sub(r"(?m)^torch==.*", f"torch=={TORCH}", ours)
    installed = home / "requirements.txt"  # there once all of it is
    if not installed.exists() or installed.read_text("utf-8") != wanted:
        RESULTS.mkdir(parents=True, exist_ok=True)
        file = RESULTS / f"torch-{TORCH}.txt"
        file.write_text(wanted, encoding="utf-8")
        for command in (
            [sys.executable, "-m", "venv", "--clear", home],
            [python, "-m", "pip", "install", "--quiet", "-r", file],
        ):
            result = subprocess.run(command, capture_output=True)
            if result.returncode:
                raise NotHere(f"torch {TORCH}: {last_line(result)}")
        shutil.copyfile(file, installed)
    yield Setting(python=python)


@contextmanager
def euc_kr() -> Iterator[Setting]:
    locales = RESULTS / "locale"
    locales.mkdir(parents=True, exist_ok=True)
    korean = locales / "ko_KR.EUC-KR"
    if shutil.which("localedef") and not korean.exists():
        localedef = ["localedef", "-i", "ko_KR", "-f", "EUC-KR", korean]
        subprocess.run(localedef, capture_output=True)
    if not korean.exists():
        raise NotHere(
            "localedef or its sources are missing: install Debian's package "
            "locales"
        )
    environment = {"LC_ALL": korean.name, "LOCPATH": str(locales)}
    yield Setting({**environment, "PYTHONUTF8": None}, encoding="euc-kr")


@contextmanager
def c_locale() -> Iterator[Setting]:
    environment = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    yield Setting({**environment, "PYTHONUTF8": "0"}, encoding="ascii")


@contextmanager
def checkout(name: str) -> Iterator[Setting]:
    """What is tracked, as it reads now, in a folder of this name."""
    with TemporaryDirectory(prefix="matrix-") as parent:
        folder = Path(parent) / name
        for file in tracked():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, folder / file)
        yield Setting(folder=folder)


@contextmanager
def read_only() -> Iterator[Setting]:
    """A checkout in which the system refuses every writing."""
    with checkout("read-only") as setting:
        folder = str(setting.folder)
        inside = ()
        if os.geteuid() == 0:  # whom permission bits do not stop
            mount = (
                'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" '
                '&& cd "$PWD" && exec "$@"'
            )
            inside = ("unshare", "--mount", "sh", "-c", mount, folder)
        else:
            subprocess.run(["chmod", "-R", "a-w", folder], check=True)
        # So that Python tries to write what it has compiled.
        environment = {"PYTHONDONTWRITEBYTECODE": None}
        setting = replace(setting, environment=environment, inside=inside)
        must_start(setting)
        if not setting.run("-c", "open('new', 'w')").returncode:
            raise NotHere("what should be read-only can be written")
        yield setting


@contextmanager
def no_network() -> Iterator[Setting]:
    root = () if os.geteuid() == 0 else ("--map-root-user",)
    # Jupyter talks to its kernels over the loopback.
    up = 'ip link set lo up && exec "$@"'
    setting = Setting(inside=("unshare", "--net", *root, "sh", "-c", up, "sh"))
    must_start(setting)
    yield setting


def must_start(setting: Setting) -> None:
    try:
        result = setting.run("-c", "")
    except FileNotFoundError as error:
        raise NotHere(f"{error.filename} is missing") from None
    if result.returncode:
        raise NotHere(last_line(result))


def no_home() -> AbstractContextManager[Setting]:
    others = ("XDG_", "JUPYTER_", "MPLCONFIGDIR", "IPYTHONDIR")
    unset = {name: None for name in os.environ if name.startswith(others)}
    return variables(**unset, HOME="/dev/null/home")  # not even root makes it


# Of each row, what runs in it and what makes its setting.
ROWS = {
    **{
        f"threads-{n}": (["notebooks"], partial(variables, OMP_NUM_THREADS=n))
        for n in ("1", "2", "4")
    },
    **{
        f"aten-{level}": (["notebooks"], partial(aten, level))
        for level in LEVELS
    },
    **{
        f"onednn-{isa.lower()}": (["notebooks"], partial(onednn, isa, level))
        for isa, level in zip(ISAS, LEVELS, strict=True)
    },
    "torch": (["notebooks"], another_torch),
    "euc-kr": (list(PARTS), euc_kr),
    "c-locale": (list(PARTS), c_locale),
    "path": (list(PARTS), partial(checkout, "내 폴더, the 2nd copy")),
    "read-only": (["demos", "commands"], read_only),
    "no-home": (list(PARTS), no_home),
    "no-network": (["notebooks"], no_network),
}
WIDTH = max(map(len, ROWS))


# ----------------------------------------------------------------- the table


def tried(name: str) -> dict:
    parts, make = ROWS[name]
    row = {"digest": digest(), "name": name, "differences": []}
    start = time.perf_counter()
    try:
        with make() as setting:
            row["note"] = setting.note
            for part in parts:
                found = differences(setting, part)
                items = len(PARTS[part][1])
                row[part] = f"{items - len(found)} of {items}"
                row["differences"] += found
    except NotHere as reason:
        row["not here"] = str(reason)
    row["seconds"] = round(time.perf_counter() - start)
    return row


def differences(setting: Setting, part: str) -> list[str]:
    """A line for each notebook, demo or command that differs."""
    compare, items = PARTS[part]
    found = []
    for item in tqdm(items, desc=part, leave=False, disable=None):
        name = item.name if isinstance(item, Step) else " ".join(item)
        try:
            line = compare(setting, item)
        except subprocess.TimeoutExpired:
            line = f"more than {LIMIT} s"
        if line:
            found.append(f"{name}: {line}")
    return found


def digest() -> str:
    """A sum over what the rows execute and compare with."""
    total = hashlib.sha256()
    for file in tracked():
        if file.split("/")[0] in READ:
            total.update(file.encode("utf-8") + b"\0")
            total.update((ROOT / file).read_bytes())
    return total.hexdigest()[:12]


def tracked() -> list[str]:
    command = ["git", "ls-files", "-z"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    files = result.stdout.decode("utf-8").split("\0")
    return [file for file in files if (ROOT / file).is_file()]


def keep(file: Path, row: dict) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(row, ensure_ascii=False) + "\n")


def kept(file: Path) -> list[dict]:
    """What is known of the course as it reads today."""
    if not file.exists():
        return []
    today = digest()
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [row for row in rows if row["digest"] == today]


def green(row: dict) -> bool:
    return not (row["differences"] or "not here" in row)


def as_text(row: dict) -> str:
    name = row["name"].ljust(WIDTH)
    if "not here" in row:
        return f"{name} cannot be tried here: {row['not here']}"
    counts = "".join(f"{row.get(part, '-'):>11}" for part in PARTS)
    first = next(iter(row["differences"]), row["note"])
    return f"{name}{counts}{row['seconds']:>9}  {first}".rstrip()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = ", ".join(ROWS)
    parser.add_argument("rows", nargs="*", help=f"only these of {names}")
    chosen = parser.parse_args(arguments).rows or list(ROWS)
    if unknown := set(chosen) - set(ROWS):
        parser.error(f"no such row: {', '.join(unknown)}; there are {names}")
    file = RESULTS / "results.jsonl"
    done = {row["name"]: row for row in kept(file) if green(row)}
    heads = "".join(f"{part:>11}" for part in PARTS)
    print(f"{'row':{WIDTH}}{heads}  seconds  first difference")
    rows = []
    for name in chosen:
        row = done.get(name) or tried(name)
        if name not in done:
            keep(file, row)
        print(as_text(row), flush=True)
        rows.append(row)
    red = sum(bool(row["differences"]) for row in rows)
    print(
        f"{sum(map(green, rows))} rows without a difference, {red} with one, "
        f"{sum('not here' in row for row in rows)} cannot be tried here"
    )
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
