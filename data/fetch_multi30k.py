"""Fetch Multi30k: captions of pictures, German and English.

    python data/fetch_multi30k.py
    python data/fetch_multi30k.py --from folder/with/the/ten/files

Writes train.tsv (29,000 pairs), valid.tsv and three test sets into
data/multi30k/: a pair a line, German, a tab, English.  The ten gzip files
they are made from stay in data/multi30k/raw/, and what is there already, by
an earlier run or by hand, is not fetched again.  Needs only Python.

The captions are those of Elliott et al. 2016 (arXiv:1605.00459), with the
test sets of WMT 2017 and 2018.
"""

import argparse
import hashlib
import os
import re
import socket
import sys
import unicodedata
from gzip import decompress
from http.client import HTTPException, IncompleteRead, responses
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

PAGE = "https://github.com/multi30k/dataset/tree/master/data/task1/raw"
SOURCE = (
    "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/"
)
OUT = Path(__file__).resolve().parent / "multi30k"
TIMEOUT = 30  # seconds without a sign of life
LARGEST = 2**24  # bytes; the largest of the ten has 0.6 million

# The SHA-256 sums of the German and of the English file.
SUMS = {
    "train": (
        "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
        "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    ),
    "val": (
        "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
        "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    ),
    "test_2016_flickr": (
        "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
        "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    ),
    "test_2017_flickr": (
        "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee",
        "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074",
    ),
    "test_2018_flickr": (
        "ddd0130c7d97482dc5197a02141dae8dd79f20f03586c480d675c09a32daf608",
        "ef4f4844037d4c5dea75c9a8ed5fd78905967a26f67c255e230cc9780032654d",
    ),
}


class Problem(Exception):
    """What went wrong, in words for the one who ran the script."""


def main(arguments: list[str] | None = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a notebook's has not
            stream.reconfigure(errors="replace")  # for paths beyond ASCII
    options = parser().parse_args(arguments)
    source, out = options.source, options.out
    try:
        fetch_all(source, out)
        return 0
    except Problem as problem:
        say = str(problem)
    except OSError as error:
        say = (
            f"{error.filename or out} cannot be read or written: "
            f"{error.strerror or error}. Put that right, or name another "
            "folder with --out, and run this again."
        )
    except KeyboardInterrupt:
        say = "Stopped. What is complete stays; run this again to go on."
    print(say, file=sys.stderr)
    return 1


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        description="Fetch Multi30k, pairs of German and English sentences."
    )
    top.add_argument(
        "--from",
        dest="source",
        default=SOURCE,
        metavar="WHERE",
        help="the address or the folder with the ten .gz files "
        "(without it: GitHub)",
    )
    top.add_argument(
        "--out",
        type=Path,
        default=OUT,
        metavar="FOLDER",
        help="where the .tsv files go (without it: data/multi30k)",
    )
    return top


def fetch_all(source: str, out: Path) -> None:
    raw = out / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    print(f"Multi30k, from {source} into {out}")
    tables = {}
    for name, (german_sum, english_sum) in SUMS.items():
        german = fetch(f"{name}.de.gz", german_sum, source, raw)
        english = fetch(f"{name}.en.gz", english_sum, source, raw)
        tables[name] = pairs(name, german, english)
    for name, lines in tables.items():
        path = out / f"{'valid' if name == 'val' else name}.tsv"
        write(path, "".join(line + "\n" for line in lines).encode("utf-8"))
        print(f"{path.name:24}{len(lines):>10,} pairs")


def fetch(name: str, right_sum: str, source: str, raw: Path) -> bytes:
    """The file from raw/, or else from the source and then into raw/."""
    path = raw / name
    if path.exists():
        content = path.read_bytes()
        if sha256(content) == right_sum:
            print(f"{name:24}{len(content):>10,} bytes, already there")
            return content
        print(f"{path} is damaged: fetching it again")
    try:
        content = load(source, name)
        if sha256(content) != right_sum:
            raise Problem(what_else(content, right_sum))
    except Problem as problem:
        raise Problem(
            f"{name} could not be fetched from {source}: {problem}. "
            f"Try again, or get the ten .gz files of {PAGE} in another way, "
            f"put them into {raw} and run this again."
        ) from problem
    write(path, content)
    print(f"{name:24}{len(content):>10,} bytes")
    return content


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def what_else(content: bytes, right_sum: str) -> str:
    if content.lstrip().startswith(b"<"):
        return (
            "a web page came in its place (does this network ask to log in?)"
        )
    return (
        f"what came is damaged or another version (SHA-256 {sha256(content)}, "
        f"not {right_sum})"
    )


def load(source: str, name: str) -> bytes:
    if source.startswith(("http://", "https://")):
        return download(f"{source.rstrip('/')}/{name}")
    try:
        return Path(source, name).read_bytes()
    except FileNotFoundError as error:
        raise Problem("there is no such file") from error
    except OSError as error:
        raise Problem(error.strerror or str(error)) from error


def download(url: str) -> bytes:
    try:
        with urlopen(url, timeout=TIMEOUT) as response:
            content = response.read(LARGEST)
            if response.length:  # bytes announced that did not come
                raise IncompleteRead(content, response.length)
            return content
    except HTTPError as error:
        error.close()
        if 300 <= error.code < 400:
            why = "the server only sends us on to other addresses"
        else:
            why = "the server does not give it"
        meaning = responses.get(error.code, "unknown")
        raise Problem(f"{why} ({error.code} {meaning})") from error
    except (OSError, HTTPException, ValueError) as error:
        raise Problem(no_answer(error)) from error


def no_answer(error: Exception) -> str:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, socket.gaierror):
        return "its address cannot be looked up (is there a network?)"
    if isinstance(cause, ConnectionRefusedError):
        return "the connection is refused"
    if isinstance(cause, TimeoutError):
        return f"nothing came for {TIMEOUT} seconds"
    if isinstance(cause, IncompleteRead):
        return f"the connection broke off after {len(cause.partial):,} bytes"
    return f"the connection failed ({cause})"


def pairs(name: str, german: bytes, english: bytes) -> list[str]:
    """German, tab, English: one string a pair."""
    sides = []
    for language, content in (("de", german), ("en", english)):
        # Only \n ends a line here: splitlines() would cut at U+2028 as well.
        text = decompress(content).decode("utf-8").removesuffix("\n")
        sides.append([clean(line) for line in text.split("\n")])
        if "" in sides[-1]:
            number = sides[-1].index("") + 1
            raise Problem(
                f"{name}.{language}.gz: line {number} is empty, so it is no "
                "translation. No .tsv file was written."
            )
    if len(sides[0]) != len(sides[1]):
        raise Problem(
            f"{name}.de.gz has {len(sides[0]):,} lines and {name}.en.gz "
            f"{len(sides[1]):,}, so they are no translations of each other. "
            "No .tsv file was written."
        )
    return [f"{de}\t{en}" for de, en in zip(*sides, strict=True)]


def clean(line: str) -> str:
    """NFC, no blanks at the ends, no tab: line 7,366 of train.de has one."""
    return re.sub(r"\s*\t\s*", " ", unicodedata.normalize("NFC", line).strip())


def write(path: Path, content: bytes) -> None:
    """All of it or nothing."""
    new = path.with_name(path.name + ".part")
    try:
        new.write_bytes(content)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
