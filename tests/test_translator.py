"""Step 18: the file as a program, as a reader uses it."""

import argparse
import io
import os
import subprocess
import sys
import unicodedata
import warnings
from contextlib import redirect_stdout

import pytest
from PIL import Image

from tests.snapshots import load
from tutorial.steps import find_step

STEP = find_step(18)

OBJECTS = {"책을": "book", "집을": "house", "꽃을": "rosé"}
VERBS = {"본다": "see", "산다": "buy"}
LINES = [
    f"{what} {do}.\tI {see} the {book}."
    for what, book in OBJECTS.items()
    for do, see in VERBS.items()
]
TEXT = "책을 본다."


@pytest.fixture(scope="module")
def transformer():
    return load(18)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Few sentences, often: a model learns them in seconds."""
    folder = tmp_path_factory.mktemp("translator") / "data"
    folder.mkdir()
    for name, times in (("train", 20), ("valid", 1), ("test", 1)):
        text = times * ("\n".join(LINES) + "\n")
        (folder / f"{name}.tsv").write_text(text, encoding="utf-8")
    return folder


def train(transformer, data, out, *more):
    settings = "vocab=310 layers=1 d-model=32 d-ff=64 heads=2 dropout=0"
    settings += " smoothing=0.05 max-tokens=50 factor=3 warmup=40 epochs=6"
    transformer.main(
        ["train", "--data", str(data), "--out", str(out), *more]
        + [f"--{setting}" for setting in settings.split()]
    )


@pytest.fixture(scope="module")
def run(transformer, data):
    """The folder of a run, made by the command line."""
    out, output = data.parent / "run", io.StringIO()
    with redirect_stdout(output):
        train(transformer, data, out)
    last = output.getvalue().splitlines()[-1]
    assert last.startswith("epoch 6 of 6: loss ")
    return out


@pytest.fixture(scope="module")
def translations(transformer, run):
    """What the model says, for each source of LINES."""
    model, tokenizer = transformer.open_model(run)
    texts = [line.split("\t")[0] for line in LINES]
    said = transformer.translate(model, tokenizer, texts)
    return dict(zip(texts, said, strict=True))


class Terminal(io.BytesIO):
    """Bytes that somebody types."""

    def isatty(self):
        return True


class Console:
    """Call the program here, with streams of any encoding."""

    def __init__(self, module, monkeypatch):
        self.main, self.patch = module.main, monkeypatch

    def __call__(
        self, *arguments, stdin=b"", source=io.BytesIO, encoding="utf-8"
    ):
        """The lines that it prints; how it ends is in `code` and `err`."""
        out, err = io.BytesIO(), io.BytesIO()
        streams = {
            "stdin": io.TextIOWrapper(source(stdin), encoding),
            "stdout": io.TextIOWrapper(out, encoding),
            "stderr": io.TextIOWrapper(err, encoding, "backslashreplace"),
        }
        for name, stream in streams.items():
            self.patch.setattr(sys, name, stream)
        try:
            with warnings.catch_warnings():
                # A glyph that a font has not is one.
                warnings.simplefilter("error", UserWarning)
                self.code = self.main([str(a) for a in arguments])
        except SystemExit as stopped:
            self.code = stopped.code
        finally:
            self.patch.undo()
        streams["stdout"].flush()
        streams["stderr"].flush()
        self.err = err.getvalue().decode(encoding)
        return out.getvalue().decode(encoding).splitlines()

    def refused(self, *arguments, **options):
        """The message with which it stops."""
        self(*arguments, **options)
        assert isinstance(self.code, str), self.code
        assert self.code.startswith("error: ")
        return self.code


@pytest.fixture
def program(transformer):
    with pytest.MonkeyPatch.context() as patch:
        yield Console(transformer, patch)


def start(*arguments, stdin=None, **environment):
    """The program in a process of its own."""
    result = subprocess.run(
        [sys.executable, STEP.executed_file, *arguments],
        input=stdin,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
    )
    assert b"Traceback" not in result.stderr, result.stderr.decode()
    return result


# Translating


def test_the_model_has_learned(translations):
    """Or the tests below would say little."""
    right = sum(f"{a}\t{b}" in LINES for a, b in translations.items())
    assert right >= 4, translations


def test_a_sentence(program, run, translations):
    for text, translation in translations.items():
        assert program("translate", text, "--model", run) == [translation]
        assert program.code is None and program.err == ""


def test_greedily(program, run, transformer):
    model, tokenizer = transformer.open_model(run)
    expected = transformer.translate(model, tokenizer, [TEXT], beam=1)
    found = program("translate", TEXT, "--model", run, "--beam", "1")
    assert found == expected


def test_a_model_is_a_run_or_a_checkpoint(program, run, translations):
    last = run / "epoch_0006"
    assert program("translate", TEXT, "--model", last) == [translations[TEXT]]
    first = program("translate", TEXT, "--model", run / "epoch_0002")
    assert program.code is None and len(first) == 1


def test_each_line_of_standard_input(program, run, translations):
    """In order, and blank ones too; the last one may have no end."""
    texts = list(translations)
    lines = [*texts, "", *reversed(texts), "  ", "\t", texts[0]]
    for end in ("\n", "\r\n"):
        found = program(
            "translate", "--model", run, stdin=end.join(lines).encode()
        )
        assert found == [translations.get(line, "") for line in lines]
    assert program("translate", "--model", run, stdin=b"") == []
    assert program("translate", "--model", run, stdin=b"\n") == [""]


@pytest.mark.parametrize(
    "source, calls", [(io.BytesIO, ["ab"]), (Terminal, ["a", "b"])]
)
def test_lines_are_read_together_unless_they_are_typed(
    program, transformer, run, monkeypatch, source, calls
):
    """Together they are faster, but who types waits for an answer."""
    said = []

    def translate(model, tokenizer, texts, beam):
        said.append("".join(texts))
        return texts

    monkeypatch.setattr(transformer, "translate", translate)
    found = program(
        "translate", "--model", run, stdin=b"a\nb\n", source=source
    )
    assert found == ["a", "b"] and said == calls


def test_a_byte_order_mark_on_standard_input(program, run, translations):
    """As some consoles put before what they pass on."""
    found = program(
        "translate", "--model", run, stdin=f"\ufeff{TEXT}\n".encode()
    )
    assert found == [translations[TEXT]]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\t",
        "😀",
        "뷁쉛",
        "a\nb",
        "\0",
        "x" * 200,
        "⠿ <s> </s> <0x41>",
    ],
    ids=ascii,
)
def test_any_text_has_an_answer(program, run, text):
    found = program("translate", text, "--model", run)
    assert program.code is None and len(found) == 1
    assert not text.strip() and found == [""] or text.strip()


def test_decomposed_text(program, run, translations):
    apart = unicodedata.normalize("NFD", TEXT)
    assert program("translate", apart, "--model", run) == [translations[TEXT]]


def test_a_line_that_is_too_long_is_named(program, run):
    long = "뷁" * 1700
    message = program.refused("translate", long, "--model", run)
    assert "뷁뷁뷁" in message and "5,103 subwords" in message
    assert "up to 5,000" in message and len(message) < 200
    stdin = f"{TEXT}\n{long}\n".encode()
    assert program.refused("translate", "--model", run, stdin=stdin) == message


@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_input_that_is_not_utf_8_is_named(program, run, encoding):
    stdin = TEXT.encode("cp949")
    message = program.refused(
        "translate", "--model", run, stdin=stdin, encoding=encoding
    )
    assert "utf-8" in message.lower()


@pytest.mark.skipif(os.name == "nt", reason="arguments of Windows are text")
def test_an_argument_where_the_locale_is_c(program, run, translations):
    """Python takes its bytes for none of ASCII, and keeps them."""
    text = TEXT.encode().decode("ascii", "surrogateescape")
    assert program("translate", text, "--model", run) == [translations[TEXT]]


def test_an_argument_that_is_not_utf_8_is_named(program, run):
    """Python reads its bytes as lone surrogates."""
    text = TEXT.encode("cp949").decode("utf-8", "surrogateescape")
    message = program.refused("translate", text, "--model", run)
    assert "utf-8" in message.lower()


def test_an_interrupted_translation_is_no_traceback(program, transformer, run):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    program.patch.setattr(transformer, "translate", interrupted)
    program("translate", TEXT, "--model", run)
    assert program.code.startswith("\nstopped")


# The map


def test_the_map_is_a_picture(program, run, tmp_path, translations):
    path = tmp_path / "map.png"
    found = program("translate", TEXT, "--model", run, "--attention", path)
    assert program.code is None and program.err == ""
    assert found == [translations[TEXT]]
    with Image.open(path) as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 150 and len(picture.getcolors(9999)) > 9


@pytest.mark.parametrize("text", ["", "뷁 😀 책을", "$x$ \\frac _ ^ % 책을"])
def test_the_map_of_a_hard_text(program, run, tmp_path, text):
    """No box in place of a letter: a missing glyph is an error here."""
    path = tmp_path / "map.png"
    program("translate", text, "--model", run, "--attention", path)
    assert program.code is None and path.stat().st_size > 1000


def test_the_map_has_the_right_sentence_on_each_axis(
    program, transformer, run, tmp_path, translations
):
    """A row for each token that is written, a column for each that is read;
    together they are the two sentences."""
    drawn, draw = [], transformer.draw_attention

    def watched(weights, rows, columns):
        drawn.append((weights, rows, columns))
        return draw(weights, rows, columns)

    program.patch.setattr(transformer, "draw_attention", watched)
    path = tmp_path / "map.png"
    program("translate", TEXT, "--model", run, "--attention", path)
    ((weights, rows, columns),) = drawn
    assert weights.shape == (1, 2, len(rows), len(columns))
    assert (weights.sum(-1) - 1).abs().max() < 1e-5
    assert rows[-1] == columns[-1] == "</s>" and columns[0] == "<s>"
    as_text = ["".join(rows[:-1]), "".join(columns[1:-1])]
    as_text = [text.replace("\u2581", " ").strip() for text in as_text]
    assert as_text == [translations[TEXT], TEXT]


def test_a_map_that_cannot_be_made(program, run, tmp_path):
    def message(path, *text):
        return program.refused(
            "translate", *text, "--model", run, "--attention", path
        )

    assert "one sentence" in message(tmp_path / "map.png")
    assert "xyz" in message(tmp_path / "map.xyz", TEXT)
    assert "nowhere" in message(tmp_path / "nowhere" / "map.png", TEXT)


# Scores


def test_evaluate(program, transformer, run, data, translations):
    found = program("evaluate", "--model", run, "--data", data / "test.tsv")
    assert program.code is None
    texts, references = zip(*(line.split("\t") for line in LINES), strict=True)
    said = [translations[text] for text in texts]
    score, signature, right = transformer.evaluate(said, references)
    assert found == [
        f"BLEU {score:.1f}  {signature}",
        f"{right} of 6 exactly right",
    ]
    assert "tok:13a" in signature and "case:mixed" in signature


@pytest.mark.parametrize(
    "content, message",
    [("", "no line"), ("one\n", "1"), ("a\tb\tc\n", "one tab")],
)
def test_what_cannot_be_evaluated(program, run, tmp_path, content, message):
    path = tmp_path / "test.tsv"
    path.write_text(content, encoding="utf-8")
    found = program.refused("evaluate", "--model", run, "--data", path)
    assert message in found and str(path) in found
    path.unlink()
    found = program.refused("evaluate", "--model", run, "--data", path)
    assert str(path) in found


# Averages


def test_average(program, run, tmp_path):
    out = tmp_path / "average"
    folders = sorted(run.iterdir())[-3:]
    assert program("average", *folders, "--out", out) == []
    assert program.code is None
    found = program("translate", TEXT, "--model", out)
    assert program.code is None and len(found) == 1


def test_what_cannot_be_averaged(program, run, tmp_path):
    folders = sorted(run.iterdir())
    out = tmp_path / "average"
    found = program.refused("average", folders[-1], run, "--out", out)
    assert f"{run} is no checkpoint" in found
    before = [path.name for path in folders]
    for place in (run, folders[-1]):
        found = program.refused("average", *folders, "--out", place)
        assert str(place) in found
    assert [path.name for path in sorted(run.iterdir())] == before


# What is wrong


def test_a_place_without_a_model(program, run, data, tmp_path):
    (tmp_path / "empty").mkdir()
    for place in (tmp_path / "empty", tmp_path / "none", data, data / "x.tsv"):
        for command in (["translate", TEXT], ["evaluate"]):
            found = program.refused(*command, "--model", place)
            assert str(place) in found and "no checkpoint" in found


@pytest.mark.parametrize("beam", ["0", "-3"])
def test_a_beam_of_nothing(program, run, data, beam):
    for command in (["translate", TEXT], ["evaluate", "--data"]):
        if command[0] == "evaluate":
            command.append(data / "test.tsv")
        found = program.refused(*command, "--model", run, "--beam", beam)
        assert f"beam is {beam}" in found


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["translate", "--beam", "wide"],
        ["train"],
        ["average"],
        ["average", "a"],
        ["evaluate", "what"],
        ["translate", "나는", "책을"],
    ],
    ids=" ".join,
)
def test_wrong_usage_shows_the_usage(program, arguments):
    assert program(*arguments) == []
    assert program.code == 2 and program.err.startswith("usage: ")


@pytest.mark.parametrize(
    "command, options",
    [
        ([], ["train", "average", "translate", "evaluate"]),
        (["train"], ["--data", "--out", "--resume", "--fp32", "--max-tokens"]),
        (["average"], ["checkpoints", "--out"]),
        (["translate"], ["text", "--attention", "--model", "--beam"]),
        (["evaluate"], ["--data", "--model", "--beam"]),
    ],
)
def test_help(program, command, options):
    """On any console."""
    text = "\n".join(program(*command, "--help", encoding="ascii"))
    assert program.code == 0
    for option in options:
        assert option in text


def test_help_explains_every_argument(program, monkeypatch):
    add, explained = argparse._ActionsContainer.add_argument, {}

    def added(self, *names, **options):
        explained[names] = bool(options.get("help"))
        return add(self, *names, **options)

    monkeypatch.setattr(argparse._ActionsContainer, "add_argument", added)
    program("--help")
    assert len(explained) > 20 and all(explained.values()), explained


def test_help_tells_each_setting_and_its_default(program, transformer):
    text = " ".join(" ".join(program("train", "--help")).split())
    settings = transformer.Settings()
    for name, value in vars(settings).items():
        assert f"--{name.replace('_', '-')}" in text
        assert f"default: {value}" in text


# In processes of their own


def test_a_file_through_a_korean_windows_console(run, translations):
    """The file is UTF-8, as all files of the course.  What the console cannot
    show is a sign there; the rest comes as it is."""
    assert any("é" in translation for translation in translations.values())
    lines = [*translations, "", "😀 뷁"]
    result = start(
        *["translate", "--model", run],
        stdin="\n".join(lines).encode(),
        PYTHONIOENCODING="cp949",
    )
    assert result.returncode == 0, result.stderr.decode()
    found = result.stdout.decode("cp949").splitlines()
    assert len(found) == len(lines) and found[len(LINES)] == ""
    for line, expected in zip(found, translations.values(), strict=False):
        same = line == expected
        assert same or ("é" in expected and line.startswith(expected[:3]))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipe")
def test_a_reader_that_has_enough_is_no_traceback(run):
    """`translate < file | head -1`"""
    process = subprocess.Popen(
        [sys.executable, STEP.executed_file, "translate", "--model", run],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    process.stdout.close()
    _, err = process.communicate(f"{TEXT}\n".encode() * 3)
    assert b"Traceback" not in err and b"Exception" not in err
