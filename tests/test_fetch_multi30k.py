"""`python data/fetch_multi30k.py` against a server that misbehaves."""

import ast
import errno
import gzip
import hashlib
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from data import fetch_multi30k as script

SETS = ["train", "val"] + [f"test_{y}_flickr" for y in (2016, 2017, 2018)]


def packed(*lines):
    text = "".join(line + "\n" for line in lines)
    return gzip.compress(text.encode("utf-8"), mtime=0)


def made_up():
    """The ten files, two short pairs in each set."""
    files = {}
    for name in SETS:
        files[f"{name}.de.gz"] = packed(f"Ein Hund in {name}.", "Schnee.")
        files[f"{name}.en.gz"] = packed(f"A dog in {name}.", "Snow.")
    return files


def use_sums(monkeypatch, files):
    def right_sum(name):
        return hashlib.sha256(files[name]).hexdigest()

    sums = {
        name: (right_sum(f"{name}.de.gz"), right_sum(f"{name}.en.gz"))
        for name in SETS
    }
    monkeypatch.setattr(script, "SUMS", sums)


class Server(ThreadingHTTPServer):
    """Serves the ten files, or does for one of them what `faults` says."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server_port}/raw"
        self.files, self.faults, self.asked = made_up(), {}, []


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.removeprefix("/raw/")
        self.server.asked.append(name)
        self.server.faults.get(name, send)(self, self.server.files[name])

    def log_message(self, *_):
        pass


def send(handler, content, length=None):
    handler.send_response(200)
    handler.send_header("Content-Length", str(length or len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def not_found(handler, _):
    handler.send_error(404)


def in_trouble(handler, _):
    handler.send_error(500)


def a_web_page(handler, _):
    send(handler, b"\n<!DOCTYPE html><title>Please log in</title>")


def another_file(handler, _):
    send(handler, packed("Another version."))


def a_damaged_file(handler, content):
    send(handler, content[:-9] + b"?" + content[-8:])


def cut_off(handler, content):
    send(handler, content[:30], length=len(content))


def cut_off_in_chunks(handler, content):
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"99\r\n" + content[:30])


def without_an_answer(handler, _):
    handler.close_connection = True


def silent(handler, _):
    handler.rfile.read(1)  # until the other side hangs up


def silent_half_way(handler, content):
    send(handler, content[:30], length=len(content))
    handler.rfile.read(1)


def in_a_circle(handler, _):
    handler.send_response(302)
    handler.send_header("Location", handler.path)
    handler.end_headers()


FAULTS = {
    not_found: "(404 Not Found)",
    in_trouble: "(500 Internal Server Error)",
    a_web_page: "a web page came in its place",
    another_file: "damaged or another version (SHA-256 ",
    a_damaged_file: "damaged or another version (SHA-256 ",
    cut_off: "the connection broke off after 30 bytes",
    cut_off_in_chunks: "the connection broke off after ",
    without_an_answer: "the connection failed (Remote end closed",
    silent: "nothing came for 0.4 seconds",
    silent_half_way: "nothing came for 0.4 seconds",
    in_a_circle: "only sends us on to other addresses (302 Found)",
}


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with Server() as server:
        use_sums(monkeypatch, server.files)
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def fetch(server, tmp_path, capsys):
    """Runs the script; gives its exit code and what it said."""

    def run(source=server.address, out=tmp_path):
        code = script.main(["--from", str(source), "--out", str(out)])
        said = capsys.readouterr()
        return code, said.err if code else said.out

    return run


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def nothing_broken(server, out):
    whole = contents(out / "raw").items() <= server.files.items()
    return whole and not list(out.glob("*.*"))


def test_ten_files_become_five_tables_of_pairs(server, fetch, tmp_path):
    code, said = fetch()
    assert code == 0
    assert contents(tmp_path / "raw") == server.files
    assert {path.name for path in tmp_path.glob("*.*")} == {
        "train.tsv",
        "valid.tsv",
        "test_2016_flickr.tsv",
        "test_2017_flickr.tsv",
        "test_2018_flickr.tsv",
    }
    expected = b"Ein Hund in val.\tA dog in val.\nSchnee.\tSnow.\n"
    assert (tmp_path / "valid.tsv").read_bytes() == expected
    # A line for the start, one a file and one a table.
    assert len(said.splitlines()) == 1 + 10 + 5


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_failure_is_told_and_the_second_try_succeeds(
    server, fetch, tmp_path, monkeypatch, fault
):
    server.faults["val.en.gz"] = fault
    with monkeypatch.context() as patch:
        if fault in (silent, silent_half_way):
            patch.setattr(script, "TIMEOUT", 0.4)
        code, said = fetch()
    assert code == 1
    assert f"val.en.gz could not be fetched from {server.address}: " in said
    assert FAULTS[fault] in said
    assert f"put them into {tmp_path / 'raw'} and run this again" in said
    assert len(said.splitlines()) == 1
    assert nothing_broken(server, tmp_path)

    server.faults.clear()
    server.asked.clear()
    assert fetch()[0] == 0
    assert contents(tmp_path / "raw") == server.files
    assert server.asked[0] == "val.en.gz"  # the earlier ones were kept


def test_nobody_listens(server, fetch, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code, said = fetch(f"http://127.0.0.1:{port}")
    assert code == 1 and "the connection is refused" in said
    assert nothing_broken(server, tmp_path)
    assert fetch()[0] == 0


def test_no_network(server, fetch, tmp_path, monkeypatch):
    def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name not known")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", unknown)
        code, said = fetch("https://multi30k.invalid")
    assert code == 1 and "is there a network?" in said
    assert nothing_broken(server, tmp_path)
    assert fetch()[0] == 0


@pytest.mark.parametrize("address", ["http://", "http://[", "http://a b"])
def test_an_address_that_is_none(fetch, address):
    code, said = fetch(address)
    assert code == 1 and "could not be fetched from http://" in said


@pytest.mark.parametrize(
    "error, message",
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left"),
        (KeyboardInterrupt(), "Stopped."),
    ],
    ids=["a full disk", "Ctrl-C"],
)
def test_writing_ends_half_way(
    server, fetch, tmp_path, monkeypatch, error, message
):
    write = Path.write_bytes

    def half(path, content):
        if path.name.startswith("val.en"):
            write(path, content[:30])
            raise error
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", half)
        code, said = fetch()
    assert code == 1 and message in said and "run this again" in said
    assert nothing_broken(server, tmp_path)
    assert fetch()[0] == 0


def test_a_folder_that_cannot_be_written(server, fetch, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    code, said = fetch(out=tmp_path / "file" / "out")
    assert code == 1 and "name another folder with --out" in said
    assert fetch(out=tmp_path / "out")[0] == 0


def test_what_is_there_is_not_fetched_again(server, fetch):
    assert fetch()[0] == 0
    server.asked.clear()
    code, said = fetch()
    assert code == 0 and server.asked == []
    assert said.count("already there") == 10


def test_a_damaged_file_is_named_and_fetched_again(server, fetch, tmp_path):
    assert fetch()[0] == 0
    server.asked.clear()
    damaged = tmp_path / "raw" / "train.de.gz"
    damaged.write_bytes(server.files["train.de.gz"][:-1])
    code, said = fetch()
    assert code == 0 and f"{damaged} is damaged" in said
    assert server.asked == ["train.de.gz"]
    assert contents(tmp_path / "raw") == server.files


def test_files_put_there_by_hand_need_no_network(server, fetch, tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    for name, content in server.files.items():
        (raw / name).write_bytes(content)
    assert fetch()[0] == 0 and server.asked == []


def test_from_a_folder(server, fetch, tmp_path):
    folder, out = tmp_path / "folder", tmp_path / "out"
    folder.mkdir()
    code, said = fetch(folder, out)
    assert code == 1 and f"from {folder}: there is no such file" in said
    for name, content in server.files.items():
        (folder / name).write_bytes(content)
    assert fetch(folder, out)[0] == 0 and server.asked == []
    assert contents(out / "raw") == server.files


@pytest.mark.parametrize(
    "german, message",
    [
        (packed("Eins."), "has 1 lines and val.en.gz 2"),
        (packed("Eins.", " "), "val.de.gz: line 2 is empty"),
        (packed(), "val.de.gz: line 1 is empty"),
    ],
    ids=["too few lines", "a blank line", "nothing at all"],
)
def test_sides_that_do_not_fit(
    server, fetch, tmp_path, monkeypatch, german, message
):
    server.files["val.de.gz"] = german
    use_sums(monkeypatch, server.files)
    code, said = fetch()
    assert code == 1 and message in said
    assert nothing_broken(server, tmp_path)


def test_lines_come_out_clean():
    german = packed("  ein \tHund \r", "u\u0308ber Nr.\u00a06", "a\u2028b")
    english = packed("a dog", "above no. 6", "ab")
    assert script.pairs("val", german, english) == [
        "ein Hund\ta dog",
        "\u00fcber Nr.\u00a06\tabove no. 6",
        "a\u2028b\tab",
    ]


def test_it_runs_on_any_console_with_nothing_but_python():
    text = Path(script.__file__).read_text(encoding="utf-8")
    assert text.isascii()  # so that its messages are
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            assert node.module.split(".")[0] in sys.stdlib_module_names
        if isinstance(node, ast.Import):
            assert {a.name for a in node.names} <= sys.stdlib_module_names
