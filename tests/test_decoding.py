"""Step 18: greedy and beam search with a cache, averages, maps, scores."""

import copy
import itertools
import re
import unicodedata
from functools import cache

import pytest
import sacrebleu
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file

from tests.snapshots import load, since

results = since(18)
teaching = load(16)

START, END, PAD = 0, 1, 2
VOCAB = 9

seeds = st.integers(0, 9999)
few = settings(max_examples=8)  # each is a batch of sentences
lengths = st.lists(st.integers(1, 7), min_size=1, max_size=5)


def small_model(transformer, seed, vocab=VOCAB, peak=12.0, **sizes):
    """A model with random weights that is sure of what it says (larger peak),
    and says something else for another source."""
    torch.manual_seed(seed)
    sizes = {"N": 2, "d_model": 16, "d_ff": 32, "h": 4} | sizes
    model = transformer.make_model(vocab, vocab, **sizes).eval()
    with torch.no_grad():
        for embed in (model.src_embed, model.tgt_embed):
            embed[0].lut.weight *= 4
        for layer in model.decoder.layers:
            layer.src_attn.linears[3].weight *= 3
        model.generator.proj.weight *= peak
        model.generator.proj.bias.normal_()
        model.generator.proj.bias[END] += peak  # some end soon, some late
        for module in model.modules():
            if isinstance(module, transformer.LayerNorm):  # no two alike
                module.a_2.uniform_(0.5, 1.5)
                module.b_2.uniform_(-0.5, 0.5)
    return model


def sentences(lengths, vocab=VOCAB):
    rows = torch.full((len(lengths), max(lengths)), PAD)
    for row, length in zip(rows, lengths, strict=True):
        row[:length] = torch.randint(3, vocab, (length,))
    return rows, (rows != PAD).unsqueeze(-2)


def by_recomputing(model, src, mask, max_len):
    """The textbook: the whole beginning again for every token, and on after
    the end."""
    slow = teaching.make_model(VOCAB, VOCAB, 2, 16, 32, 4).eval()
    slow.load_state_dict(model.state_dict())
    return teaching.greedy_decode(slow, src, mask, max_len, START)


def log_p(transformer, model, src, mask, ids):
    """The log-probability of the tokens of each row after START, summed up to
    the first END."""
    future = transformer.subsequent_mask(ids.size(1) - 1)
    with torch.no_grad():
        hidden = model(src, ids[:, :-1], mask, future)
        each = model.generator(hidden).gather(2, ids[:, 1:, None])[:, :, 0]
    ended = (ids[:, 1:] == END).cumsum(1) - (ids[:, 1:] == END).long()
    return (each * (ended == 0)).sum(1)


def score(transformer, model, src, mask, ids, length_penalty=0.6):
    """What beam search says that its result is worth."""
    n = [until_end(row).numel() - 1 for row in ids]
    penalty = ((5 + torch.tensor(n)) / 6) ** length_penalty
    return log_p(transformer, model, src, mask, ids) / penalty


def until_end(row):
    """A row with its END, and without what fills it up."""
    ends = (row == END).nonzero()
    return row[: ends[0] + 1] if len(ends) else row


# Greedy decoding with a cache


@results
@few
@given(lengths, st.integers(1, 12), seeds)
def test_cached_is_recomputed_token_for_token(
    transformer, lengths, max_len, seed
):
    model = small_model(transformer, seed)
    src, mask = sentences(lengths)
    expected = by_recomputing(model, src, mask, max_len)
    found = transformer.greedy_decode(model, src, mask, max_len, START)
    assert torch.equal(found, expected)


@results
@few
@given(lengths, st.integers(1, 12), seeds)
def test_each_row_stops_at_its_end(transformer, lengths, max_len, seed):
    """And is filled up with END; the whole stops with the last row."""
    model = small_model(transformer, seed)
    src, mask = sentences(lengths)
    expected = by_recomputing(model, src, mask, max_len)
    found = transformer.greedy_decode(model, src, mask, max_len, START, END)
    assert found.dtype == src.dtype
    for row, wanted in zip(found, expected, strict=True):
        said = until_end(row)
        assert torch.equal(said, until_end(wanted))
        assert (row[len(said) :] == END).all()
    assert found.size(1) == max(len(until_end(row)) for row in expected)


@results
@few
@given(lengths, seeds)
def test_a_batch_is_its_sentences(transformer, lengths, seed):
    """Sentences that end early, or are padded, change no other."""
    model = small_model(transformer, seed)
    src, mask = sentences(lengths)
    together = transformer.greedy_decode(model, src, mask, 12, START, END)
    for row, source, n in zip(together, src, lengths, strict=True):
        found = transformer.greedy_decode(
            model, source[None, :n], None, 12, START, END
        )
        assert torch.equal(found[0], until_end(row))


class Counter:
    """How many positions went through each part of a model."""

    def __init__(self, model):
        layer = model.decoder.layers[0]
        self.counts = {}
        self.watch("encoder", model.encoder)
        self.watch("positions", layer.feed_forward)
        self.watch("own keys", layer.self_attn.linears[1])
        self.watch("source keys", layer.src_attn.linears[1])
        self.watch("next tokens", model.generator)

    def watch(self, name, module):
        self.counts[name] = []
        module.register_forward_hook(
            lambda module, inputs, output: self.counts[name].append(
                output.shape[:-1].numel()
            )
        )

    def __getitem__(self, name):
        return self.counts[name]


@results
def test_nothing_is_computed_twice(transformer):
    model = small_model(transformer, 0)
    src, mask = sentences([4, 6, 3])
    count = Counter(model)
    transformer.greedy_decode(model, src, mask, 9, START)
    assert count["encoder"] == count["source keys"] == [3 * 6]
    for name in ("positions", "own keys", "next tokens"):
        assert count[name] == 8 * [3], name


@results
@few
@given(seeds)
def test_a_row_that_ended_costs_nothing(transformer, seed):
    model = small_model(transformer, seed)
    src, mask = sentences([4, 6, 3, 1])
    count = Counter(model)
    found = transformer.greedy_decode(model, src, mask, 9, START, END)
    needed = [len(until_end(row)) - 1 for row in found]
    expected = [sum(n > i for n in needed) for i in range(max(needed))]
    assert count["positions"] == count["next tokens"] == expected


@results
def test_beams_share_the_memory_of_their_sentence(transformer):
    model = small_model(transformer, 0)
    model.generator.proj.bias.data[END] = -1e9
    src, mask = sentences([4, 6, 3])
    count = Counter(model)
    transformer.beam_search(model, src, mask, 9, START, END, beam=4)
    assert count["encoder"] == count["source keys"] == [3 * 6]
    assert count["positions"] == [3] + 7 * [3 * 4]


@results
def test_a_search_that_found_enough_is_over(transformer):
    """The greedy sentence and, at the next length, as many as the beam."""
    model = small_model(transformer, 0)
    model.generator.proj.bias.data[END] = 1e3
    src, mask = sentences([4, 6, 3])
    count = Counter(model)
    transformer.beam_search(model, src, mask, 30, START, END, beam=4)
    assert count["next tokens"] == [3, 3 * 4]


@results
def test_decoding_remembers_no_gradient(transformer):
    model = small_model(transformer, 0)
    src, mask = sentences([4])
    _, scores = transformer.beam_search(model, src, mask, 5, START, END)
    assert not scores.requires_grad
    assert transformer.greedy_decode(model, src, mask, 5, START).grad is None


@results
def test_a_model_in_training_is_left_in_training(transformer):
    model = small_model(transformer, 0).train()
    src, mask = sentences([4])
    transformer.greedy_decode(model, src, mask, 4, START, END)
    transformer.beam_search(model, src, mask, 4, START, END)
    assert model.training


@results
def test_decoding_stays_where_the_source_is(transformer):
    """Also where another device is the default, as a GPU may be; meta takes
    no tensors of others."""
    model = small_model(transformer, 0)
    src, mask = sentences([4, 2])
    for search in (transformer.greedy_decode, transformer.beam_search):
        expected = search(model, src, mask, 5, START, END)
        with torch.device("meta"):
            found = search(model, src, mask, 5, START, END)
        torch.testing.assert_close(found, expected)


@results
def test_positions_beyond_the_encoding_are_refused(transformer):
    model = small_model(transformer, 0)
    model.tgt_embed[1].pe = model.tgt_embed[1].pe[:, :5]
    src, mask = sentences([4])
    transformer.greedy_decode(model, src, mask, 6, START)
    with pytest.raises(ValueError, match="length 6 is over max_len, 5"):
        transformer.greedy_decode(model, src, mask, 7, START)


# Beam search


@results
@few
@given(lengths, st.integers(2, 12), seeds)
def test_a_beam_of_one_is_greedy(transformer, lengths, max_len, seed):
    model = small_model(transformer, seed)
    src, mask = sentences(lengths)
    greedy = transformer.greedy_decode(model, src, mask, max_len, START, END)
    found, _ = transformer.beam_search(
        model, src, mask, max_len, START, END, beam=1
    )
    assert found.dtype == src.dtype
    assert torch.equal(found, greedy)


@results
@few
@given(
    lengths,
    st.integers(1, 6),
    st.integers(2, 10),
    st.sampled_from([0.0, 0.6, 1.0]),
    seeds,
)
def test_scores_are_those_of_the_sentences(
    transformer, lengths, beam, max_len, penalty, seed
):
    """Computed again, all at once: log p over ((5 + length) / 6) ** penalty,
    where length counts what follows START."""
    model = small_model(transformer, seed, peak=6.0)
    src, mask = sentences(lengths)
    ids, scores = transformer.beam_search(
        model, src, mask, max_len, START, END, beam, penalty
    )
    assert ids.size(1) <= max_len and (ids[:, 0] == START).all()
    assert scores.shape == (len(lengths),)
    expected = score(transformer, model, src, mask, ids, penalty)
    torch.testing.assert_close(scores, expected, atol=1e-4, rtol=1e-4)
    for row in ids:
        assert (row[len(until_end(row)) :] == END).all()


@results
@pytest.mark.parametrize("peak", [3.0, 12.0, 40.0])
@few
@given(lengths, st.integers(2, 6), st.sampled_from([0.0, 0.6, 1.5]), seeds)
def test_no_score_is_below_that_of_greedy(
    transformer, peak, lengths, beam, penalty, seed
):
    """Of every sentence that greedy search finishes."""
    model = small_model(transformer, seed, peak=peak)
    src, mask = sentences(lengths)
    greedy = transformer.greedy_decode(model, src, mask, 10, START, END)
    _, scores = transformer.beam_search(
        model, src, mask, 10, START, END, beam, penalty
    )
    floor = score(transformer, model, src, mask, greedy, penalty)
    finished = (greedy == END).any(1)
    assert (scores >= floor - 1e-4)[finished].all()


@results
@few
@given(lengths, st.integers(2, 6), seeds)
def test_sentences_of_a_batch_do_not_change_each_other(
    transformer, lengths, beam, seed
):
    """Some end early, some are padded: each has what it has alone."""
    model = small_model(transformer, seed, peak=6.0)
    src, mask = sentences(lengths)
    ids, scores = transformer.beam_search(
        model, src, mask, 9, START, END, beam
    )
    for i, n in enumerate(lengths):
        alone, its_score = transformer.beam_search(
            model, src[i : i + 1, :n], None, 9, START, END, beam
        )
        assert torch.equal(alone[0], until_end(ids[i]))
        torch.testing.assert_close(its_score[0], scores[i])


class Scripted:
    """In place of a decoder: a table of what follows each beginning."""

    def __init__(self, table):
        self.table, self.rows = table, [""]

    def __call__(self, tokens):
        letters = ["<>_ABCD"[token] for token in tokens]
        pairs = zip(self.rows, letters, strict=True)
        self.rows = [f"{row}{letter}".strip("<") for row, letter in pairs]
        p = torch.full((len(tokens), 7), 1e-9)
        for found, row in zip(p, self.rows, strict=True):
            for letter, share in self.table.get(row, {}).items():
                found["<>_ABCD".index(letter)] = share
        return p.log()

    def select(self, sentences, rows):
        self.rows = [self.rows[row] for row in rows]


@results
@pytest.mark.parametrize(
    "table",
    [
        # At length 2, two beginnings with B are likelier than AC, which is
        # the greedy one, but come to nothing.
        {
            "": {"A": 0.5, "B": 0.45, ">": 0.05},
            "A": {"C": 0.3, "A": 0.25, "B": 0.25, ">": 0.2},
            "B": {"C": 0.5, "D": 0.5},
            "AC": {">": 1},
            "BC": {"A": 0.3, "B": 0.3, "C": 0.3, ">": 0.1},
            "BD": {"A": 0.3, "B": 0.3, "C": 0.3, ">": 0.1},
        },
        # At length 2, two sentences have ended already.
        {
            "": {"A": 0.45, ">": 0.3, "B": 0.25},
            "A": {"C": 1},
            "B": {">": 1},
            "AC": {">": 1},
        },
    ],
    ids=["falls off the beam", "ends last"],
)
def test_the_greedy_sentence_is_followed_to_its_end(
    transformer, monkeypatch, table
):
    monkeypatch.setattr(transformer, "StepDecoder", lambda *_: Scripted(table))
    src = torch.tensor([[3]])
    arguments = [None, src, None, 9, START, END]
    expected = [START, 3, 5, END]
    assert transformer.greedy_decode(*arguments).tolist() == [expected]
    found, _ = transformer.beam_search(*arguments, beam=2)
    assert until_end(found[0]).tolist() == expected


def every_sentence(vocab, max_len):
    """All there are: finished ones, filled up with END, then those of full
    length that are not."""
    finished, others = [], []
    for n in range(max_len):
        for middle in itertools.product(range(vocab), repeat=n):
            if END not in middle and n < max_len - 1:
                fill = (max_len - 1 - n) * [END]
                finished.append([START, *middle, *fill])
            elif END not in middle:
                others.append([START, *middle])
    return torch.tensor(finished), torch.tensor(others)


@results
@few
@given(st.sampled_from([0.0, 0.6, 2.0]), st.sampled_from([2.0, 8.0]), seeds)
def test_a_wide_beam_finds_the_best_of_all_sentences(
    transformer, penalty, peak, seed
):
    """5 tokens, at most 3 after START: 21 finished sentences."""
    model = small_model(transformer, seed, vocab=5, peak=peak)
    src, mask = sentences([4], vocab=5)
    finished, _ = every_sentence(5, 4)
    assert len(finished) == 21
    n = len(finished)
    scores = score(
        transformer, model, src.repeat(n, 1), mask, finished, penalty
    )
    ids, found = transformer.beam_search(
        model, src, mask, 4, START, END, 100, penalty
    )
    torch.testing.assert_close(found[0], scores.max(), atol=1e-5, rtol=1e-5)
    best = until_end(finished[scores.argmax()])
    assert torch.equal(until_end(ids[0]), best)


@results
def test_without_an_end_the_likeliest_beginning_is_said(transformer):
    """Not the greedy one.  4 tokens that go on, 2 after START: a beam of 4
    loses none of the 16."""
    greedy = 0
    _, others = every_sentence(5, 3)
    assert len(others) == 16
    for seed in range(20):
        model = small_model(transformer, seed, vocab=5, peak=3.0)
        model.generator.proj.bias.data[END] = -1e9
        src, mask = sentences([4], vocab=5)
        ids, found = transformer.beam_search(
            model, src, mask, 3, START, END, beam=4
        )
        one = src.repeat(16, 1)
        scores = score(transformer, model, one, mask, others)
        torch.testing.assert_close(found[0], scores.max())
        assert torch.equal(ids[0], others[scores.argmax()])
        said = transformer.greedy_decode(model, src, mask, 3, START, END)
        greedy += torch.equal(said, ids)
    assert greedy < 20, "or this says nothing"


@results
def test_a_penalty_prefers_what_is_longer(transformer):
    """The best short sentence is likelier, the best long one likelier per
    token."""
    model = small_model(transformer, 0, vocab=5, peak=0.0)
    # 5 tokens; what comes next depends on nothing: END 0.3, token 3 0.6.
    p = torch.tensor([0.05, 0.3, 0.025, 0.6, 0.025])
    model.generator.proj.bias.data = p.log()
    src, mask = sentences([4], vocab=5)

    def length(penalty):
        ids, _ = transformer.beam_search(
            model, src, mask, 12, START, END, 30, penalty
        )
        return len(until_end(ids[0])) - 1

    found = [length(penalty) for penalty in (0.0, 0.6, 1.0, 2.0, 3.0)]
    assert found == sorted(found)
    assert found[0] == 1 and found[-1] == 11


@results
def test_beams_are_not_wider_than_there_are_sentences(transformer):
    model = small_model(transformer, 1, vocab=4)
    src, mask = sentences([3, 1], vocab=4)
    for beam in (3, 4, 5, 100):
        ids, scores = transformer.beam_search(
            model, src, mask, 5, START, END, beam
        )
        assert scores.isfinite().all()
        expected = score(transformer, model, src, mask, ids)
        torch.testing.assert_close(scores, expected, atol=1e-4, rtol=1e-4)


@results
@pytest.mark.parametrize("beam, max_len", [(0, 9), (101, 9), (4, 1), (4, 0)])
def test_wrong_arguments_of_a_beam(transformer, beam, max_len):
    model = small_model(transformer, 0)
    src, mask = sentences([3])
    match = f"beam is {beam}, max_len {max_len}"
    with pytest.raises(ValueError, match=match):
        transformer.beam_search(model, src, mask, max_len, START, END, beam)


# Translating


@pytest.fixture(scope="module")
def tokenizer():
    texts = ["나는 책을 읽었다.", "너는 집에 갔다.", "I read a book."]
    return load(18).train_tokenizer(texts, 330)


TEXTS = [
    "너는 책을 읽었다. 나는 집에 갔다.",
    "책",
    "",
    "나는 집에 갔다.",
    "   ",
    "뷁 😀 xyz",
    "책",
    "\t\n",
    "책을 책을 책을 책을 책을",
]


@cache
def translator(transformer, tokenizer, ends=True):
    """A model of no sense that comes to an END, now sooner, now later, on
    each of the texts; or never."""
    rows = transformer.encode(tokenizer, [t for t in TEXTS if t.strip()])
    src = transformer.pad_rows(rows)
    mask = (src != PAD).unsqueeze(-2)
    for seed in range(999):
        vocab = tokenizer.get_vocab_size()
        model = small_model(transformer, seed, vocab, d_model=32, N=1)
        model.generator.proj.bias.data[END] = 15 if ends else -1e9
        ids = transformer.greedy_decode(model, src, mask, 12, START, END)
        lengths = {len(until_end(row)) for row in ids}
        if not ends or (len(lengths) > 3 and (ids == END).any(1).all()):
            return model


@results
@pytest.mark.parametrize("beam", [1, 3])
def test_translations_come_in_the_order_of_the_texts(
    transformer, tokenizer, beam
):
    model = translator(transformer, tokenizer)
    alone = [
        transformer.translate(model, tokenizer, [text], beam)[0]
        for text in TEXTS
    ]
    assert transformer.translate(model, tokenizer, TEXTS, beam) == alone
    for text, translation in zip(TEXTS, alone, strict=True):
        assert text.strip() or translation == ""
    assert len(set(alone)) > 2, "or this says nothing"
    assert transformer.translate(model, tokenizer, [], beam) == []
    assert transformer.translate(model, tokenizer, ["", " "], beam) == ["", ""]


@results
def test_more_texts_than_a_batch_come_in_order(transformer, tokenizer):
    model = translator(transformer, tokenizer)
    texts = [f"{'책을 ' * (i % 5)}{i}" for i in range(230)]
    found = transformer.translate(model, tokenizer, texts, beam=1)
    for i in (0, 17, 99, 100, 101, 229):
        assert [found[i]] == transformer.translate(
            model, tokenizer, [texts[i]], beam=1
        )


@results
@pytest.mark.parametrize("beam", [1, 2])
def test_company_does_not_change_a_translation(transformer, tokenizer, beam):
    """Not even of a text on which the model comes to no end: how long it may
    go on depends on this text, not on the longest of the batch."""
    model = translator(transformer, tokenizer, ends=False)
    texts = ["책", "책을 " * 12]
    alone = transformer.translate(model, tokenizer, texts[:1], beam)
    assert transformer.translate(model, tokenizer, texts, beam)[:1] == alone


@results
def test_a_translation_is_one_line(transformer, tokenizer):
    """Whatever a model says, also the byte of a line's end: from standard
    input, a line in is a line out."""
    model = copy.deepcopy(translator(transformer, tokenizer))
    line_end = transformer.SPECIAL.index("<0x0A>")
    model.generator.proj.bias.data[line_end] = 99
    for beam in (1, 2):
        (found,) = transformer.translate(model, tokenizer, ["책"], beam)
        assert found.splitlines() in ([], [found])


@results
def test_a_text_that_is_too_long_is_named(transformer, tokenizer):
    model = copy.deepcopy(translator(transformer, tokenizer))
    for embed in (model.src_embed, model.tgt_embed):
        embed[1].pe = embed[1].pe[:, :10]
    # With START, END and the sign for a space.
    with pytest.raises(ValueError, match="'qqqqqqqq.*11 subw.*up to 10"):
        transformer.translate(model, tokenizer, ["책", 8 * "q"])
    # The longest that it takes has a translation, of that length at most.
    model.generator.proj.bias.data[END] = -1e9
    for beam in (1, 2):
        transformer.translate(model, tokenizer, [7 * "q"], beam)


@results
def test_decomposed_text_is_the_same_text(transformer, tokenizer):
    model = translator(transformer, tokenizer)
    apart = [unicodedata.normalize("NFD", text) for text in TEXTS]
    assert apart != TEXTS
    assert transformer.translate(
        model, tokenizer, apart, beam=2
    ) == transformer.translate(model, tokenizer, TEXTS, beam=2)


# Scores of translations


@results
def test_bleu_is_that_of_the_corpus(transformer):
    references = ["The cat sat on the mat.", "He reads the book.", "Go on!"]
    said = ["The cat sat on a mat.", "He read the book.", "Go on!"]
    found, signature, right = transformer.evaluate(said, references)
    expected = sacrebleu.corpus_bleu(said, [references]).score
    assert found == expected and 0 < found < 100
    each = [
        sacrebleu.sentence_bleu(a, [b]).score
        for a, b in zip(said, references, strict=True)
    ]
    assert found != pytest.approx(sum(each) / 3, abs=1), "no mean of sentences"
    assert "tok:13a" in signature and "case:mixed" in signature
    assert f"version:{sacrebleu.__version__}" in signature
    assert right == 1


@results
def test_a_perfect_translation_has_100(transformer):
    texts = ["The cat sat on the mat.", "He reads the old book.", "책이 있다."]
    found, _, right = transformer.evaluate(texts, texts)
    assert found == pytest.approx(100) and right == 3
    lower = [text.lower() for text in texts]
    assert transformer.evaluate(lower, texts)[0] < 90, "case counts"


@results
def test_every_translation_needs_its_reference(transformer):
    with pytest.raises(ValueError):
        transformer.evaluate(["a", "b"], ["a", "b", "c"])
    with pytest.raises(ValueError):
        transformer.evaluate(["a", "b", "c"], ["a", "b"])


# Averages


def checkpoints_of(transformer, tokenizer, tmp_path, n=3, **changed):
    """Checkpoints of a run, with random weights."""
    settings = transformer.Settings(
        layers=1, d_model=8, d_ff=16, heads=2, **changed
    )
    vocab = tokenizer.get_vocab_size()
    record = {
        "settings": settings.__dict__,
        "vocab": vocab,
        "data": "a digest",
        "epoch": 0,
    }
    torch.manual_seed(n)
    folders = []
    for i in range(n):
        model = transformer.build_model(settings, vocab)
        folders.append(tmp_path / f"epoch_{i:04}")
        record["epoch"] = i
        transformer.save_checkpoint(folders[-1], model, tokenizer, record)
    return folders


def weights(folder):
    return load_file(folder / "model.safetensors")


@results
@pytest.mark.parametrize("n", [1, 2, 3])
def test_an_average_is_the_mean_of_the_weights(
    transformer, tokenizer, tmp_path, n
):
    folders = checkpoints_of(transformer, tokenizer, tmp_path, n)
    before = [weights(folder) for folder in folders]
    out = tmp_path / "average"
    model = transformer.average_checkpoints(folders, out)
    found, same_tokenizer, _ = transformer.load_checkpoint(out)
    for name, p in found.named_parameters():
        expected = torch.stack([w[name] for w in before]).mean(0)
        torch.testing.assert_close(p.detach(), expected)
        assert torch.equal(p, model.get_parameter(name))
    assert same_tokenizer.to_str() == tokenizer.to_str()
    assert found.generator.proj.weight is found.src_embed[0].lut.weight
    for folder, same in zip(folders, before, strict=True):
        for name, w in weights(folder).items():
            assert torch.equal(w, same[name]), "inputs stay as they are"


@results
@pytest.mark.parametrize("changed", [{"seed": 1}, {"dropout": 0.2}])
def test_runs_are_not_mixed(transformer, tokenizer, tmp_path, changed):
    first = checkpoints_of(transformer, tokenizer, tmp_path / "a", 2)
    other = checkpoints_of(
        transformer, tokenizer, tmp_path / "b", 2, **changed
    )
    with pytest.raises(ValueError, match="two runs") as error:
        transformer.average_checkpoints(
            [*first, other[0]], tmp_path / "average"
        )
    assert str(other[0]) in str(error.value)
    assert not (tmp_path / "average").exists()


@results
def test_an_average_overwrites_nothing(transformer, tokenizer, tmp_path):
    """Not the run that it was made of, nor one of its checkpoints."""
    folders = checkpoints_of(transformer, tokenizer, tmp_path / "run", 2)
    before = [weights(folder) for folder in folders]
    for out in (tmp_path / "run", folders[1], tmp_path):
        with pytest.raises((ValueError, OSError), match=re.escape(str(out))):
            transformer.average_checkpoints(folders, out)
    for folder, same in zip(folders, before, strict=True):
        for name, w in weights(folder).items():
            assert torch.equal(w, same[name])


# Attention maps


SRC, TGT = [START, 5, 6, 7, END], [START, 4, 8, END]


def parts(model):
    every = [layer.self_attn for layer in model.encoder.layers]
    for layer in model.decoder.layers:
        every += [layer.self_attn, layer.src_attn]
    return every


@results
def test_a_map_for_every_layer_and_head(transformer):
    """A row for each token that is written, the last of them END; a column
    for each that is read."""
    model = small_model(transformer, 0)
    maps = transformer.attention_maps(model, SRC, TGT)
    assert maps["encoder"].shape == (2, 4, 5, 5)
    assert maps["decoder"].shape == (2, 4, 3, 3)
    assert maps["source"].shape == (2, 4, 3, 5)
    for weights in maps.values():
        torch.testing.assert_close(
            weights.sum(-1), torch.ones(weights.shape[:-1])
        )
        assert not weights.requires_grad
    future = torch.ones(3, 3).triu(1).bool()
    assert (maps["decoder"][:, :, future] == 0).all()


@results
def test_maps_are_those_of_the_teaching_form(transformer):
    model = small_model(transformer, 1)
    slow = teaching.make_model(VOCAB, VOCAB, 2, 16, 32, 4).eval()
    slow.load_state_dict(model.state_dict())
    src, tgt = torch.tensor([SRC]), torch.tensor([TGT[:-1]])
    slow(src, tgt, None, teaching.subsequent_mask(3))
    maps = transformer.attention_maps(model, SRC, TGT)
    for name, expected in (
        ("encoder", [layer.self_attn for layer in slow.encoder.layers]),
        ("decoder", [layer.self_attn for layer in slow.decoder.layers]),
        ("source", [layer.src_attn for layer in slow.decoder.layers]),
    ):
        for layer, attn in zip(maps[name], expected, strict=True):
            torch.testing.assert_close(layer, attn.attn[0])


@results
def test_maps_come_back_from_any_device(transformer):
    """What is on meta cannot: so it is seen that they are asked to."""
    with torch.device("meta"):
        model = transformer.make_model(VOCAB, VOCAB, 2, 16, 32, 4).eval()
    with pytest.raises(NotImplementedError, match="out of meta tensor"):
        transformer.attention_maps(model, SRC, TGT)


@results
def test_a_model_in_training_has_no_maps(transformer):
    """Its weights would be after dropout: 1.11, and rows that miss 1."""
    model = small_model(transformer, 0).train()
    with pytest.raises(ValueError, match="eval"):
        transformer.attention_maps(model, SRC, TGT)


@results
def test_weights_are_kept_only_while_a_map_is_made(transformer):
    model = small_model(transformer, 0)
    transformer.attention_maps(model, SRC, TGT)
    assert not any(attn.need_weights for attn in parts(model))
    with pytest.raises(ValueError, match="99 are not all in the vocabulary"):
        transformer.attention_maps(model, [START, 99, END], TGT)
    assert not any(attn.need_weights for attn in parts(model))


@results
def test_a_figure_has_a_panel_for_each_head(transformer, recwarn):
    weights = torch.rand(2, 3, 4, 5).softmax(-1)
    rows, columns = (
        ["▁나는", "책", "<0xEB>", "</s>"],
        ["<s>", "책", "$", "\\", "_"],
    )
    figure = transformer.draw_attention(weights, rows, columns)
    assert len(figure.axes) == 6
    for panel in figure.axes:
        assert [t.get_text() for t in panel.get_yticklabels()] == rows
        assert [t.get_text() for t in panel.get_xticklabels()] == columns
    titles = [panel.get_title() for panel in figure.axes]
    assert titles[0] == "layer 1, head 1" and titles[-1] == "layer 2, head 3"
    shown = figure.axes[4].images[0].get_array()
    assert (shown == weights[1, 1].numpy()).all()
    figure.canvas.draw()
    glyphs = [w for w in recwarn if "missing from" in str(w.message)]
    assert not glyphs


@results
def test_a_figure_has_room_for_its_labels(transformer):
    weights = torch.rand(2, 3, 4, 5).softmax(-1)
    figure = transformer.draw_attention(weights, list("abcd"), list("abcde"))
    figure.canvas.draw()
    for panel in figure.axes:
        box = panel.get_window_extent().transformed(
            figure.dpi_scale_trans.inverted()
        )
        for inches in (box.width / 5, box.height / 4):  # of a label
            assert 0.2 < inches < 0.4


# The cache


@results
def test_the_cache_grows_by_one_and_keeps_the_memory(transformer):
    model = small_model(transformer, 0)
    src, mask = sentences([4, 6])
    decoder = transformer.StepDecoder(model, src, mask)
    first = [cache.memory for cache in decoder.caches]
    for length in range(1, 5):
        decoder(torch.tensor([3, 4]))
        for layer in decoder.caches:
            for x in layer.target:
                assert x.shape == (2, 4, length, 4)
            for x in layer.memory:
                assert x.shape == (2, 4, 6, 4)
    for layer, memory in zip(decoder.caches, first, strict=True):
        assert all(a is b for a, b in zip(layer.memory, memory, strict=True))


@results
@few
@given(seeds)
def test_rows_can_be_reordered_and_repeated(transformer, seed):
    """As beam search does with its beginnings."""
    model = small_model(transformer, seed)
    src, mask = sentences([4, 6])
    decoder = transformer.StepDecoder(model, src, mask)
    decoder(torch.tensor([START, START]))
    decoder.select([0, 1], torch.tensor([0, 0, 1, 1]))
    decoder(torch.tensor([3, 4, 5, 6]))
    decoder.select([1], torch.tensor([3, 2]))
    found = decoder(torch.tensor([7, 8]))
    begun = torch.tensor([[START, 6, 7], [START, 5, 8]])
    with torch.no_grad():
        hidden = model(
            src[1:].repeat(2, 1),
            begun,
            mask[1:],
            transformer.subsequent_mask(3),
        )
        expected = model.generator(hidden[:, -1])
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
