"""models/ko-en/ is what the README and lesson 18 say it is."""

import pytest

from tests.snapshots import load
from tutorial.steps import ROOT

FOLDER = ROOT / "models/ko-en"
transformer = load(18)


@pytest.fixture(scope="module")
def shipped():
    return transformer.load_checkpoint(FOLDER)


def test_it_is_small_and_nothing_in_it_can_run():
    files = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
    assert set(files) == {
        "checkpoint.json",
        "model.safetensors",
        "tokenizer.json",
    }
    assert sum(files.values()) < 6e6


def test_it_has_about_a_million_parameters(shipped):
    model, _, _ = shipped
    assert 0.8e6 < sum(p.numel() for p in model.parameters()) < 1.2e6


def test_it_learned_from_the_sentences_in_data(shipped):
    _, _, record = shipped
    corpus = transformer.read_corpus(ROOT / "data/ko-en")
    assert record["data"] == transformer.digest(corpus)


@pytest.mark.parametrize("name, least", [("test", 0.95), ("new", 0.84)])
def test_it_is_right_to_the_letter(shipped, name, least):
    model, tokenizer, _ = shipped
    pairs = transformer.read_pairs(ROOT / f"data/ko-en/{name}.tsv")
    sources, references = zip(*pairs, strict=True)
    found = transformer.translate(model, tokenizer, sources, beam=1)
    score, _, right = transformer.evaluate(found, references)
    assert right > least * len(pairs)
    assert score > 85
