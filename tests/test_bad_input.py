"""Whatever a user hands over, there is a right answer, or an error that names
what is wrong in words of ours: no traceback of PyTorch's, no half of a file.

A test here says which input is refused, and of the rest what the answer is;
where it can, by another formula.  `make test` tries 20 inputs of each kind,
`make fuzz` 2,000.  Of another type altogether (a list for a tensor, a text for
a number), Python's own TypeError is good enough."""

import ast
import dataclasses
import io
import json
import math
import re
import shutil
import sys
import traceback
import unicodedata
import warnings
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import sacrebleu
import torch
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional as F

from tests.reference import copy_attention
from tests.snapshots import load

transformer = load(18)
START, END, PAD = transformer.START, transformer.END, transformer.PAD
TREE = ast.parse(Path(transformer.__file__).read_text(encoding="utf-8"))

# The lines of its raise statements.
RAISES = {
    line
    for node in ast.walk(TREE)
    if isinstance(node, ast.Raise)
    for line in range(node.lineno, node.end_lineno + 1)
}

# Words of PyTorch and of Matplotlib that are as good as ours: they name what
# was given, and what would be right.
BORROWED = re.compile(
    r"dropout probability has to be between 0 and 1, but got .+"
    r"|Expected tensor .* 'indices' .* types: Long, Int; but got .+"
    r"|Trying to create tensor with negative dimension .+"
    r"|Format '.*' is not supported \(supported formats: .*\)"
)


def in_our_words(error):
    """Raised by a line of ours, or by the system, which names the file."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    ours = last.filename == transformer.__file__ and last.lineno in RAISES
    return ours or isinstance(error, OSError) or BORROWED.match(str(error))


def refused(naming, function, *arguments, **options):
    """It stops with an error that names this, in words of ours."""
    # A RuntimeError is PyTorch's: only BORROWED lets it pass.
    kinds = (ValueError, OSError, RuntimeError)
    with pytest.raises(kinds, match=naming) as error:
        function(*arguments, **options)
    assert in_our_words(error.value), repr(error.value)


COVERED = set()


def covers(*names):
    """A test of these functions and classes."""
    COVERED.update(names)
    return lambda test: test


INSIDE = {
    "Dropout": "built by make_model, which has words for its p",
    "PositionwiseFeedForward": "built by make_model, as all parts below",
    "LayerNorm": "its size is make_model's d_model",
    "SublayerConnection": "its size is make_model's d_model",
    "EncoderLayer": "its parts are made by make_model",
    "Encoder": "its layers are counted by clones",
    "DecoderLayer": "its parts are made by make_model",
    "Decoder": "its layers are counted by clones",
    "Generator": "its sizes are make_model's",
    "LayerCache": "made by StepDecoder",
    "StepDecoder": "made by greedy_decode and beam_search",
    "TrainState": "counters, which only run_epoch changes",
    "SimpleLossCompute": "called by run_epoch, with a LabelSmoothing",
    "pad_rows": "called by collate and translate",
    "choose_device": "asks the machine; its argument is a switch",
    "keep_freed_memory": "has no argument",
    "option": "its arguments stand in Settings",
    "encode_pairs": "encode, for both sides of what read_pairs gives",
    "build_model": "make_model, with the numbers of a Settings",
    "digest": "takes any value",
    "checksum": "of a file that load_checkpoint or save_checkpoint names",
    "describe": "takes what choose_device gives",
}


def test_every_public_name_is_covered():
    public = {
        node.name
        for node in TREE.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
    }
    assert COVERED | INSIDE.keys() == public
    assert not COVERED & INSIDE.keys()


# Where a try is quick and there is much to try.
more = settings(max_examples=max(100, settings.default.max_examples))

seeds = st.integers(0, 999)
sizes = st.integers(1, 5)


def near(*shape):
    """This shape; or one with other sizes, with one less or one more."""
    others = st.tuples(*(st.sampled_from([n, n, 1, n + 1]) for n in shape))
    return st.one_of(
        st.just(shape),
        st.tuples(*(st.sampled_from([n, 1]) for n in shape)),
        others,
        others.map(lambda other: other[1:]),
        others.map(lambda other: (1, *other)),
    )


def fits(shape, onto):
    """A tensor of this shape broadcasts to that one."""
    try:
        return torch.broadcast_shapes(shape, onto) == torch.Size(onto)
    except RuntimeError:
        return False


# Steps 01 to 03: attention

TOLERANCE = {
    torch.float64: 1e-12,
    torch.float32: 1e-5,
    torch.bfloat16: 5e-2,
    torch.float16: 5e-3,
}
mask_dtypes = st.sampled_from(
    [torch.bool, torch.uint8, torch.long, *TOLERANCE]
)


@covers("attention")
@more
@given(
    lead=st.lists(sizes, max_size=2),
    shape=st.tuples(st.integers(0, 4), st.integers(0, 4), sizes, sizes),
    dtype=st.sampled_from(list(TOLERANCE)),
    data=st.data(),
)
def test_attention(lead, shape, dtype, data):
    q, k, d_k, d_v = shape
    torch.manual_seed(data.draw(seeds))

    def random(*shape):
        smaller = [data.draw(st.sampled_from([n, 1])) for n in lead]
        return torch.randn(*smaller, *shape).to(dtype)

    query = torch.randn(*lead, q, d_k).to(dtype)
    key = random(k, data.draw(st.sampled_from([*5 * [d_k], d_k + 1])))
    value = random(data.draw(st.sampled_from([*5 * [k], k + 1])), d_v)
    mask, seen = None, torch.ones(*lead, q, dtype=torch.bool)
    if data.draw(st.booleans()):
        shape = data.draw(near(*lead, q, k))
        mask = torch.rand(shape) < 0.7
    for need_weights in (True, False):
        arguments = {
            "mask": None if mask is None else mask.to(data.draw(mask_dtypes)),
            "need_weights": need_weights,
        }
        call = transformer.attention, query, key, value
        if key.size(-1) != d_k or value.size(-2) != k:
            refused("equal d_k.* equal lengths", *call, **arguments)
            continue
        if mask is not None:
            if not fits(mask.shape, (*lead, q, k)):
                refused("mask .* must broadcast", *call, **arguments)
                continue
            seen = mask.expand(*lead, q, k).any(-1)
        x, weights = call[0](*call[1:], **arguments)
        assert (weights is None) != need_weights
        assert x.shape == (*lead, q, d_v) and x.isfinite().all()
        expected = F.scaled_dot_product_attention(query, key, value, mask)
        close = TOLERANCE[dtype]
        torch.testing.assert_close(
            x[seen], expected[seen], atol=close, rtol=close
        )


@covers("subsequent_mask")
@given(st.integers(-5, 60))
def test_subsequent_mask(size):
    if size < 1:
        refused(f"size is {size}", transformer.subsequent_mask, size)
    else:
        position = torch.arange(size)
        expected = position <= position.unsqueeze(1)
        assert transformer.subsequent_mask(size).equal(expected[None])


@covers("clones")
@given(st.integers(-3, 5))
def test_clones(N):
    layer = nn.Linear(2, 2)
    if N < 1:
        refused(f"N is {N}", transformer.clones, layer, N)
    else:
        copies = transformer.clones(layer, N)
        assert len(set(map(id, copies))) == N and layer not in copies


@covers("MultiHeadedAttention")
@more
@given(
    h=st.sampled_from([1, 2, 2, 4, 3, 0, -1]),
    d_model=st.sampled_from([4, 8, 12, 12, 2, 1, 0, -2]),
    lengths=st.tuples(sizes, sizes, sizes),
    data=st.data(),
)
def test_multi_headed_attention(h, d_model, lengths, data):
    if h < 1 or d_model < 1 or d_model % h != 0:
        naming = f"h is {h}: it must divide d_model, {d_model}"
        refused(naming, transformer.MultiHeadedAttention, h, d_model)
        return
    torch.manual_seed(data.draw(seeds))
    attend = transformer.MultiHeadedAttention(h, d_model).eval()
    batch, q, k = lengths
    query, key = torch.randn(batch, q, d_model), torch.randn(batch, k, d_model)
    shape = data.draw(st.none() | near(batch, q, k))
    mask = None if shape is None else torch.rand(shape) < 0.7
    if mask is not None and mask.dim() != 3:
        refused(
            r"mask .* is not \(batch, q, k\)", attend, query, key, key, mask
        )
    elif mask is not None and not fits(mask.shape, (batch, q, k)):
        refused("mask .* must broadcast", attend, query, key, key, mask)
    else:
        theirs = nn.MultiheadAttention(d_model, h, batch_first=True).eval()
        copy_attention(attend, theirs)
        seen, hidden = torch.ones(batch, q, dtype=torch.bool), None
        if mask is not None:
            visible = mask.expand(batch, q, k)
            seen, hidden = visible.any(-1), ~visible.repeat_interleave(h, 0)
        found = attend(query, key, key, mask)
        expected, _ = theirs(query, key, key, attn_mask=hidden)
        assert found.isfinite().all()
        torch.testing.assert_close(
            found[seen], expected[seen], atol=1e-4, rtol=1e-4
        )


# Step 05: embeddings and positions


@covers("Embeddings")
@given(
    d_model=st.integers(1, 9),
    vocab=st.integers(1, 9),
    shape=st.lists(st.integers(0, 4), max_size=3),
    dtype=st.sampled_from([torch.long, torch.int32, torch.float32]),
    other=st.sampled_from([0, 0, -1, 1]),
)
@example(d_model=1, vocab=1, shape=[], dtype=torch.float32, other=0)
def test_embeddings(d_model, vocab, shape, dtype, other):
    """other: an id that lies so far before, or after, the vocabulary."""
    embed = transformer.Embeddings(d_model, vocab)
    ids = torch.randint(vocab, shape, dtype=dtype)
    if dtype.is_floating_point:
        refused("Long, Int; but got torch.FloatTensor", embed, ids)
        return
    if other and ids.numel():
        ids.view(-1)[0] = -1 if other < 0 else vocab
        refused(f"not all in the vocabulary, 0 to {vocab - 1}$", embed, ids)
        return
    expected = F.one_hot(ids.long(), vocab).float() @ embed.lut.weight
    torch.testing.assert_close(embed(ids), expected * math.sqrt(d_model))


probabilities = st.sampled_from([0.0, 0.1, 0.9, 1.0]) | st.floats(-0.5, 1.5)


@covers("PositionalEncoding")
@more
@given(
    d_model=st.sampled_from([2, 4, 6, 8, 8, 7, 1, 0, -2]),
    dropout=probabilities,
    max_len=st.sampled_from([9, 6, 4, 1, 0, -1]),
    length=st.integers(0, 6),
    start=st.sampled_from([0, 0, 1, 3, 6, -1]),
    data=st.data(),
)
def test_positional_encoding(d_model, dropout, max_len, length, start, data):
    arguments = d_model, dropout, max_len
    if d_model < 1 or d_model % 2 != 0 or max_len < 1:
        naming = f"d_model is {d_model}, max_len {max_len}: an even number"
        refused(naming, transformer.PositionalEncoding, *arguments)
    elif not 0 <= dropout <= 1:
        refused(
            re.escape(str(dropout)), transformer.PositionalEncoding, *arguments
        )
    else:
        position = transformer.PositionalEncoding(*arguments).eval()
        x = torch.zeros(data.draw(near(2, length, d_model)))
        if start < 0:
            refused(f"start is {start}", position, x, start)
            return
        length = x.size(1)
        if start + length > max_len:
            refused(
                f"length {start + length} is over max_len, {max_len}",
                *(position, x, start),
            )
            return
        if x.dim() != 3 or x.size(2) != d_model:
            naming = rf"is not \(batch, length, {d_model}\)"
            refused(naming, position, x, start)
            return
        # A pair of features is a point that turns: a complex power.
        turns = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
        places = torch.arange(start, start + length).unsqueeze(1)
        points = torch.polar(
            torch.ones(length, 1), math.pi / 2 - places * turns
        )
        expected = torch.view_as_real(points).flatten(1).expand_as(x)
        torch.testing.assert_close(
            position(x, start), expected, atol=1e-5, rtol=0
        )


# Step 09: the model


@covers("make_model", "tie_embeddings")
@more
@given(
    vocabs=st.sampled_from([(1, 1), (2, 5), (5, 2), (7, 7), (0, 5), (5, -1)]),
    N=st.sampled_from([1, 2, 0, -1]),
    d_model=st.sampled_from([2, 4, 8, 12]) | st.integers(-1, 12),
    d_ff=sizes | st.integers(-1, 5),
    h=st.sampled_from([1, 2, 4]) | st.integers(-1, 5),
    dropout=probabilities,
)
def test_make_model(vocabs, N, d_model, d_ff, h, dropout):
    def make():
        return transformer.make_model(*vocabs, N, d_model, d_ff, h, dropout)

    if min(vocabs) < 1 or d_ff < 1:
        naming = f"src_vocab is {vocabs[0]}, tgt_vocab {vocabs[1]}, d_ff "
        refused(f"{naming}{d_ff}: each must be at least 1", make)
    elif h < 1 or d_model < 1 or d_model % h != 0:
        refused(f"h is {h}", make)
    elif not 0 <= dropout <= 1:
        refused(re.escape(str(dropout)), make)
    elif d_model % 2 != 0:
        refused(f"d_model is {d_model}", make)
    elif N < 1:
        refused(f"N is {N}", make)
    else:
        model = make().eval()
        src, tgt = (torch.randint(vocab, (2, 3)) for vocab in vocabs)
        log_p = model.generator(model(src, tgt, None, None))
        sums = log_p.exp().sum(-1)
        assert log_p.shape == (2, 3, vocabs[1])
        torch.testing.assert_close(sums, torch.ones(2, 3))
        d, attention = d_model, 4 * (d_model**2 + d_model)
        layer = attention + (2 * d * d_ff + d_ff + d) + 2 * 2 * d
        both = 2 * layer + attention + 2 * d  # an encoder's and a decoder's
        embeddings = (vocabs[0] + vocabs[1]) * d
        generator = vocabs[1] * (d + 1)
        assert count(model) == embeddings + N * both + 2 * 2 * d + generator
        if vocabs[0] != vocabs[1]:
            refused(
                f"{vocabs[0]} and {vocabs[1]} tokens",
                *(transformer.tie_embeddings, model),
            )
        else:
            before = count(model)
            tied = transformer.tie_embeddings(model)
            assert before - count(tied) == 2 * vocabs[0] * d


def count(model):
    return sum(p.numel() for p in model.parameters())


@cache
def small_model():
    torch.manual_seed(0)
    return transformer.make_model(11, 11, 2, 8, 16, 2, 0.0).eval()


@cache
def teaching_model():
    """The same, as step 09 computes it."""
    model = load(9).make_model(11, 11, 2, 8, 16, 2, 0.0).eval()
    model.load_state_dict(small_model().state_dict())
    return model


@covers("EncoderDecoder")
@given(shape=st.tuples(sizes, sizes, sizes), data=st.data())
def test_masks_of_a_model(shape, data):
    """Where each row sees something, the numbers are those of step 09."""
    batch, s, t = shape
    torch.manual_seed(data.draw(seeds))
    src, tgt = torch.randint(11, (batch, s)), torch.randint(11, (batch, t))
    shapes = data.draw(near(batch, 1, s)), data.draw(near(batch, t, t))
    src_mask, tgt_mask = (torch.rand(shape) < 0.8 for shape in shapes)
    arguments = src, tgt, src_mask, tgt_mask
    right = src_mask.dim() == tgt_mask.dim() == 3 and (
        fits(src_mask.shape, (batch, s, s))
        and fits(src_mask.shape, (batch, t, s))
        and fits(tgt_mask.shape, (batch, t, t))
    )
    if not right:
        refused("mask", small_model(), *arguments)
    else:
        found = small_model()(*arguments)
        assert found.shape == (batch, t, 8) and found.isfinite().all()
        if src_mask.any(-1).all() and tgt_mask.any(-1).all():
            expected = teaching_model()(*arguments)
            torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


# Steps 10 and 18: decoding


@st.composite
def sources(draw):
    """Ids, and a mask for them: right, or of another shape."""
    batch, s = draw(sizes | st.integers(0, 1)), draw(sizes)
    torch.manual_seed(draw(seeds))
    dtype = draw(st.sampled_from([torch.long, torch.long, torch.int32]))
    src = torch.randint(11, (batch, s), dtype=dtype)
    right = (batch, 1, s)
    shape = draw(
        st.sampled_from(
            [None, None, *6 * [right]]
            + [(1, 1, s), (s,), (batch, s), (batch, 1, 1, s)]
            + [(batch, 1, s + 1)]
            + [(batch + 1, 1, s), (batch, s + 1, s)]
        )
    )
    mask = None if shape is None else torch.rand(shape) < 0.8
    if mask is not None:
        mask[..., 0] = True
    return src, mask


def right_mask(src, mask):
    batch, s = src.shape
    return mask is None or mask.shape in [(batch, 1, s), (1, 1, s)]


def next_log_p(src, mask, ys):
    """Of each token after those before it, by the whole model at once."""
    model, t = small_model(), ys.size(1)
    seen = torch.ones(1, t, t, dtype=torch.bool).tril()
    return model.generator(model(src, ys, mask, seen))[:, :-1]


@covers("greedy_decode")
@given(
    source=sources(),
    max_len=st.sampled_from([*range(1, 10), 0, -1]),
    start=st.integers(0, 10) | st.just(11),
    end=st.none() | st.integers(-1, 12),
)
def test_greedy_decode(source, max_len, start, end):
    src, mask = source
    call = transformer.greedy_decode, small_model(), src, mask, max_len, start
    if max_len < 1:
        refused(f"max_len is {max_len}", *call, end)
    elif not len(src):
        refused("src .* has no row", *call, end)
    elif not right_mask(src, mask):
        refused("mask", *call, end)
    elif start == 11 and max_len > 1:
        refused("not all in the vocabulary, 0 to 10", *call, end)
    else:
        ys = call[0](*call[1:], end)
        assert (ys[:, 0] == start).all()
        ends = ys[:, 1:] == (-1 if end is None else end)
        ended = (ends.cumsum(1) - ends.int()).bool()  # before this token
        if ys.size(1) == 1:
            return
        log_p = next_log_p(src, mask, ys)
        found = log_p.gather(-1, ys[:, 1:, None]).squeeze(-1)
        best = log_p.amax(-1)
        torch.testing.assert_close(found[~ended], best[~ended])
        assert ends[ended].all()
        assert ys.size(1) == max_len or ends[:, -1].all()


@covers("beam_search")
@given(
    source=sources(),
    max_len=st.sampled_from([*range(2, 8), 1, 0, -1]),
    start=st.integers(0, 10),
    end=st.integers(0, 12),
    beam=st.sampled_from([1, 2, 3, 4, 11, 14, 0, -1, 10**9]),
    length_penalty=st.floats(-2, 2),
)
def test_beam_search(source, max_len, start, end, beam, length_penalty):
    """A score is that of its sentence, and not below that of greedy."""
    src, mask = source
    call = small_model(), src, mask, max_len, start, end
    options = {"beam": beam, "length_penalty": length_penalty}
    if not 1 <= beam <= 100 or max_len < 2:
        refused(
            f"beam is {beam}, max_len {max_len}",
            *(transformer.beam_search, *call),
            **options,
        )
    elif not len(src):
        refused("src .* has no row", transformer.beam_search, *call, **options)
    elif not right_mask(src, mask):
        refused("mask", transformer.beam_search, *call, **options)
    else:

        def score(src, mask, row):
            """Of a sentence up to its end."""
            length = (
                row.tolist().index(end, 1) if end in row[1:] else len(row) - 1
            )
            log_p = next_log_p(src, mask, row[None, : length + 1])
            total = log_p.gather(-1, row[None, 1 : length + 1, None]).sum()
            return total / ((5 + length) / 6) ** length_penalty

        found, scores = transformer.beam_search(*call, **options)
        greedy = transformer.greedy_decode(*call)
        for i in range(len(src)):
            alone = src[i : i + 1], None if mask is None else mask[i:][:1]
            if mask is not None and len(mask) == 1:
                alone = src[i : i + 1], mask
            expected = score(*alone, found[i])
            torch.testing.assert_close(
                scores[i], expected, rtol=1e-4, atol=1e-4
            )
            if end in greedy[i, 1:]:
                assert scores[i] >= score(*alone, greedy[i]) - 1e-4


# Steps 11 to 15: batches and training


@covers("Batch")
@given(
    shapes=st.tuples(*4 * [st.integers(0, 5)]),
    dtype=st.sampled_from([torch.long, torch.int32, torch.uint8]),
    pad=st.integers(-1, 6),
    seed=seeds,
)
@example((2, 3, 2, 4), torch.long, 2, 0)
def test_batch(shapes, dtype, pad, seed):
    rows, s, tgt_rows, t = shapes
    torch.manual_seed(seed)
    src = torch.randint(6, (rows, s), dtype=dtype)
    tgt = torch.randint(6, (tgt_rows, t), dtype=dtype)
    for other in (src[None], src.flatten()):
        naming = r"src .* is not \(batch, s\)"
        refused(naming, transformer.Batch, other, tgt, pad)
    for other in (tgt[None], tgt.flatten()):
        refused("as many rows", transformer.Batch, src, other, pad)
    if tgt_rows != rows or t < 2:
        refused("as many rows.*at least 2", transformer.Batch, src, tgt, pad)
    else:
        batch = transformer.Batch(src, tgt, pad)
        assert batch.src.equal(src)
        assert torch.cat([batch.tgt, batch.tgt_y[:, -1:]], 1).equal(tgt)
        assert batch.tgt_y.equal(tgt[:, 1:])
        assert batch.src_mask.equal((src != pad)[:, None])
        order = torch.arange(t - 1)
        past = order <= order[:, None]
        assert batch.tgt_mask.equal((tgt[:, None, :-1] != pad) & past)
        assert batch.ntokens == (tgt[:, 1:] != pad).sum()


id_rows = st.lists(
    st.lists(st.integers(0, 10), min_size=3, max_size=3),
    min_size=1,
    max_size=3,
).map(torch.tensor) | st.just(torch.zeros(1, 3, dtype=torch.long))


@covers("run_epoch")
@given(
    rows=st.lists(id_rows, max_size=5),
    mode=st.sampled_from(["train", "train+log", "eval"]) | st.text(max_size=9),
    accum_iter=st.integers(-1, 5),
    clip=st.none() | st.floats(0.1, 9) | st.floats(),
)
@example(rows=[], mode="train", accum_iter=1, clip=-1e16)
@example(
    rows=3 * [torch.ones(2, 3).long()], mode="train", accum_iter=2, clip=1
)
@example(rows=[torch.ones(2, 3).long()], mode="eval", accum_iter=1, clip=None)
def test_run_epoch(rows, mode, accum_iter, clip):
    """With a learning rate of 0 each batch meets the same weights."""
    model = small_model()
    criterion = transformer.LabelSmoothing(11, PAD)
    batches = [transformer.Batch(ids, ids) for ids in rows]

    def run():
        return transformer.run_epoch(
            batches,
            model,
            transformer.SimpleLossCompute(model.generator, criterion),
            torch.optim.SGD(model.parameters(), lr=0.0),
            SimpleNamespace(step=lambda: None),
            mode,
            accum_iter,
            clip=clip,
        )

    if mode not in ("train", "train+log", "eval"):
        refused("mode is .*, not train, train[+]log or eval", run)
    elif accum_iter < 1:
        refused(f"accum_iter is {accum_iter}", run)
    elif clip is not None and not clip > 0:
        naming = re.escape(f"clip is {clip}: a length must be over 0")
        refused(naming, run)
    elif not batches:
        refused("data_iter has no batch", run)
    elif any(
        sum(batch.ntokens for batch in batches[i : i + accum_iter]) == 0
        for i in range(0, len(batches), accum_iter)
    ):
        refused("all padding", run)
    else:
        loss, state = run()
        log_p = [
            model.generator(model(b.src, b.tgt, b.src_mask, b.tgt_mask))
            for b in batches
        ]
        expected = F.nll_loss(
            torch.cat(log_p).flatten(0, 1),
            torch.cat([batch.tgt_y for batch in batches]).flatten(),
            ignore_index=PAD,
        )
        assert loss == pytest.approx(expected.item(), rel=1e-4)
        if mode == "eval":
            assert state == transformer.TrainState()
        else:
            assert state == transformer.TrainState(
                step=len(rows),
                accum_step=math.ceil(len(rows) / accum_iter),
                samples=sum(map(len, rows)),
                tokens=sum(int(batch.ntokens) for batch in batches),
            )


@covers("rate")
@given(
    step=st.integers(-5, 10**6),
    model_size=st.integers(1, 10**5) | st.integers(-2, 2),
    factor=st.just(0.0) | st.floats(1e-9, 1e9),
    warmup=st.integers(-5, 10**7) | st.floats(-5, 1e7) | st.just(math.nan),
)
def test_rate(step, model_size, factor, warmup):
    arguments = step, model_size, factor, warmup
    if model_size < 1 or not warmup >= 1:
        naming = f"model_size is {model_size}, warmup {warmup}: each must be"
        refused(naming, transformer.rate, *arguments)
    else:
        step = max(step, 1)
        peak = factor / math.sqrt(model_size * warmup)
        share = min(step / warmup, math.sqrt(warmup / step))
        found = transformer.rate(*arguments)
        assert found == pytest.approx(peak * share, rel=1e-6, abs=0)


@covers("LabelSmoothing")
@given(
    size=st.integers(-1, 7),
    padding_idx=st.integers(-1, 7),
    smoothing=st.floats(0, 0.99, allow_subnormal=False)
    | st.floats(allow_subnormal=False),
    seed=seeds,
)
def test_label_smoothing(size, padding_idx, smoothing, seed):
    arguments = size, padding_idx, smoothing
    if size < 3:
        refused(f"size is {size}", transformer.LabelSmoothing, *arguments)
    elif not 0 <= smoothing < 1:
        refused("smoothing is", transformer.LabelSmoothing, *arguments)
    elif not 0 <= padding_idx < size:
        naming = f"padding_idx is {padding_idx}: it must be in 0 to {size - 1}"
        refused(naming, transformer.LabelSmoothing, *arguments)
    else:
        criterion = transformer.LabelSmoothing(*arguments)
        torch.manual_seed(seed)
        x = torch.randn(9, size, dtype=torch.double).log_softmax(-1)
        target = torch.randint(size, (9,))
        for wrong in (x[:, 1:], torch.cat([x, x], 1), x[None]):
            refused(rf"not \(n, size {size}\)", criterion, wrong, target)
        for wrong in (target[1:], target[None], target[:, None], target[0]):
            refused(r"target .* not \(n\)", criterion, x, wrong)
        wanted = torch.full_like(x, smoothing / (size - 2))
        wanted[range(9), target] = 1 - smoothing
        wanted[:, padding_idx] = 0
        wanted[target == padding_idx] = 0
        expected = F.kl_div(x, wanted, reduction="sum")
        torch.testing.assert_close(criterion(x, target), expected)


@covers("data_gen")
@given(V=st.integers(-1, 9), rows=st.integers(-1, 4), n=st.integers(-1, 3))
@example(V=3, rows=-1, n=1)
def test_data_gen(V, rows, n):
    if V < 3:
        refused(f"V is {V}", lambda: list(transformer.data_gen(V, rows, n)))
    elif rows < 0 < n:
        naming = f"negative dimension {rows}"
        refused(naming, lambda: list(transformer.data_gen(V, rows, n)))
    else:
        batches = list(transformer.data_gen(V, rows, n))
        assert len(batches) == max(n, 0)
        for batch in batches:
            assert batch.src.shape == (rows, 10)
            assert (batch.src[:, 0] == 1).all()
            copied = batch.src[:, 1:]
            assert ((2 <= copied) & (copied < V)).all()
            assert batch.tgt_y.equal(copied)


# Step 16: files, subwords, groups

hostile = st.sampled_from(
    [b"\0", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\x85", b"\xe2\x80"]
    + [b"\t", b"\t\t", b"\n", b"\r", b"\r\n", b" ", b"\x1c", b"\x1a"]
    + [mark.encode() for mark in "\ufeff\u2028\u200b\u3000\u0301\u11a8\ufffe"]
    + [3000 * b"x", 300 * "책 ".encode()]
)
line = st.sampled_from(["책\tbook\n", "집\thouse\r\n", "가\tgo\r"])
pieces = st.lists(
    hostile
    | line.map(str.encode)
    | line.map(lambda text: unicodedata.normalize("NFD", text).encode())
    | st.text(max_size=5).map(str.encode)
    | st.binary(max_size=5),
    max_size=6,
)
encodings = st.sampled_from(
    ["cp949", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
contents = pieces.map(b"".join) | st.builds(
    lambda lines, encoding: "".join(lines).encode(encoding),
    st.lists(line, min_size=1),
    encodings,
)


def pairs_of(content):
    """What read_pairs must make of these bytes; None where it must refuse."""
    try:
        text = content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        return None
    text = unicodedata.normalize("NFC", text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    rows = [
        [side.strip() for side in line.split("\t")]
        for line in lines
        if line.strip()
    ]
    right = all(len(row) == 2 and all(row) for row in rows)
    if "\0" in text or not rows or not right:
        return None
    return [tuple(row) for row in rows]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bad_input")


@covers("find")
@given(st.text(max_size=50).filter(lambda path: "/" not in path))
@example("transformer.py")
@example("\0")
def test_find(path):
    try:
        assert transformer.find(path).exists()
    except FileNotFoundError:
        naming = re.escape(f"{path} is in no folder above")
        refused(naming, transformer.find, path)


@covers("read_pairs", "read_corpus")
@given(contents)
@example("책\tbook\n집\thouse".encode())
@example("책\tbook\n\ufeff집\thouse".encode())
@example("책\tbook\n".encode("utf-16-le"))
@example(9 * b"\t\n")
def test_read_pairs(folder, content):
    path = folder / "pairs.tsv"
    path.write_bytes(content)
    pairs, name = pairs_of(content), re.escape(str(path))
    if pairs is None:
        refused(name, transformer.read_pairs, path)
        refused(name, transformer.read_corpus, path)
    else:
        assert transformer.read_pairs(path) == pairs
        if len({source for source, _ in pairs}) == 1:
            refused(f"{name} has one source", transformer.read_corpus, path)
        else:
            learn, valid = transformer.read_corpus(path)
            assert sorted(learn + valid) == sorted(pairs)
            assert not set(dict(learn)) & set(dict(valid))


# Of characters that this Python does not know, the tokenizer may know more.
known = st.characters(exclude_categories=["Cs", "Cn"])
texts = st.lists(st.text(known, max_size=9), max_size=4)


@covers("train_tokenizer")
@given(texts, st.integers(-1, 262) | st.integers(263, 400) | st.just(10**12))
def test_train_tokenizer(texts, vocab_size):
    """Each character needs a piece, and so does the start of a word."""
    composed = [unicodedata.normalize("NFC", text) for text in texts]
    words = [f"\u2581{text.replace(' ', chr(0x2581))}" for text in composed]
    characters = set("".join(word for word in words if len(word) > 1))
    if not max(260, 259 + len(characters)) <= vocab_size <= 10**6:
        refused(
            f"vocab_size is {vocab_size}",
            *(transformer.train_tokenizer, texts, vocab_size),
        )
    else:
        tokenizer = transformer.train_tokenizer(texts, vocab_size)
        assert tokenizer.get_vocab_size() <= vocab_size
        rows = transformer.encode(tokenizer, texts)
        assert transformer.decode(tokenizer, rows) == [
            text.replace("\u2581", " ").removeprefix(" ") for text in composed
        ]


TOKENIZER = transformer.train_tokenizer(["나는 책을 읽었다.", "I see."], 300)
VOCAB = TOKENIZER.get_vocab_size()
any_text = st.text(known, max_size=9) | st.sampled_from(["\ud800", "책\udfff"])
any_id = st.integers(0, VOCAB - 1)
ids = st.lists(any_id, max_size=14) | st.lists(
    any_id, min_size=13, max_size=16
)


@covers("encode", "decode")
@more
@given(
    texts=st.lists(any_text, max_size=4),
    rows=st.lists(ids, max_size=4),
    other=st.integers(VOCAB) | st.integers(max_value=-1),
)
def test_encode_and_decode(texts, rows, other):
    """What comes after END is no text."""
    if re.search("[\ud800-\udfff]", "".join(texts)):
        refused("no Unicode", transformer.encode, TOKENIZER, texts)
    else:
        for row in transformer.encode(TOKENIZER, texts):
            assert (row[0], row[-1]) == (START, END)
            assert all(PAD < i < VOCAB for i in row[1:-1])
    found = transformer.decode(TOKENIZER, rows)
    longer = [[*row, END, VOCAB - 1] for row in rows]
    assert found == transformer.decode(TOKENIZER, longer)
    naming = f"an id is not in the vocabulary, 0 to {VOCAB - 1}"
    refused(naming, transformer.decode, TOKENIZER, [*rows, [other]])


lengths = st.lists(st.tuples(sizes, sizes), max_size=9)


@covers("group_by_length", "collate")
@given(lengths, st.integers(-1, 12), st.integers() | st.text())
def test_group_by_length_and_collate(lengths, max_tokens, seed):
    pairs = [([5] * s, [6] * t) for s, t in lengths]
    group = transformer.group_by_length, pairs, max_tokens, seed
    too_long = sum(max(pair) > max_tokens for pair in lengths)
    if not pairs:
        refused("no pair to group", *group)
        refused("group has no pair", transformer.collate, pairs)
        return
    if too_long:
        refused(f"{too_long} pairs are over max_tokens, {max_tokens}", *group)
    else:
        groups = transformer.group_by_length(pairs, max_tokens, seed)
        assert sorted(sum(groups, [])) == sorted(pairs)
        for group in groups:
            longest = max(max(map(len, pair)) for pair in group)
            assert 0 < longest * len(group) <= max_tokens
    if max(t for _, t in lengths) < 2:
        refused("at least 2 tokens a row", transformer.collate, pairs)
    else:
        batch = transformer.collate(pairs)
        assert (batch.src == 5).sum(1).tolist() == [s for s, _ in lengths]
        assert (batch.src != 5).equal(batch.src == PAD)
        assert (batch.tgt_y == 6).sum(1).tolist() == [
            t - 1 for _, t in lengths
        ]


# Step 17: settings and checkpoints

FIELDS = {
    field.name: field for field in dataclasses.fields(transformer.Settings)
}


@covers("Settings")
@given(st.sampled_from(list(FIELDS)), st.data())
def test_settings(name, data):
    low, high = FIELDS[name].metadata["range"]
    if FIELDS[name].type is int:
        value = data.draw(st.integers() | st.integers(low - 1, high + 1))
    else:
        value = data.draw(st.floats() | st.floats(low, high))
    naming = f"{name} is .*: it must be (int|float), from {low} to {high}"
    if low <= value <= high:
        assert vars(transformer.Settings(**{name: value}))[name] == value
    else:
        refused(naming, transformer.Settings, **{name: value})
    for wrong in (str(low), None, [low], low + 0.5 * (type(low) is int)):
        if type(wrong) is not FIELDS[name].type:
            refused(naming, transformer.Settings, **{name: wrong})


# The smallest run, made by the command line
SMALL = ["--vocab=300", "--layers=1", "--d-model=8", "--d-ff=8", "--heads=2"]
SMALL += ["--epochs=1", "--max-tokens=60"]
LINES = "나는 책을 읽었다.\tI read.\n책을 샀니?\tDid you?\n집\thouse\n"
FILES = ["checkpoint.json", "model.safetensors", "tokenizer.json"]
FILES += ["optimizer.safetensors"]


@pytest.fixture(scope="module")
def run(folder):
    (folder / "data.tsv").write_text(LINES, encoding="utf-8")
    arguments = "--data", folder / "data.tsv", "--out", folder / "run"
    assert answer("train", *arguments, *SMALL) is not None
    return folder / "run"


@pytest.fixture(scope="module")
def place(run):
    """Its last checkpoint."""
    return transformer.checkpoints(run)[-1]


def files(folder):
    """All that lies in a folder, by its path there."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def copied(folder):
    """A copy to damage, in place of the one before."""
    copy = folder.with_name(f"copy of {folder.name}")
    shutil.rmtree(copy, ignore_errors=True)
    return Path(shutil.copytree(folder, copy))


def seal(place, **changed):
    """Change its record as a program may: with checksums that are right."""
    path = place / "checkpoint.json"
    record = json.loads(path.read_bytes()) | changed
    del record["record"]
    record["sha256"] = {
        name: transformer.checksum(place / name) for name in FILES[1:]
    }
    record["record"] = transformer.digest(record)
    path.write_text(json.dumps(record), encoding="utf-8")


def weights(place):
    """Of the model that is loaded from here, by name."""
    model, _, _ = transformer.load_checkpoint(place)
    return {name: p.tolist() for name, p in model.named_parameters()}


@st.composite
def damaged(draw, content):
    """Cut, longer, missing, or with other bytes in it."""
    start = draw(st.integers(0, len(content) - 1))
    end = draw(st.sampled_from([start, start + 1, len(content)]))
    put = draw(st.binary(max_size=3))
    return draw(st.none() | st.just(content[:start] + put + content[end:]))


@covers("load_checkpoint", "load_optimizer", "checkpoints", "train")
@given(file=st.sampled_from(FILES), data=st.data())
def test_a_damaged_checkpoint(run, file, data):
    """It is refused, also by a training that would go on from it, and stays
    as it is; no damage is what says the same, as a space more in the record
    does."""
    copy = copied(run)
    place = transformer.checkpoints(copy)[-1]
    saved, content = weights(place), (place / file).read_bytes()
    content = data.draw(damaged(content))
    (place / file).unlink()
    if content is not None:
        (place / file).write_bytes(content)
    before = files(copy)
    try:
        assert weights(place) == saved
    except ValueError:
        refused(re.escape(str(place)), transformer.load_checkpoint, place)
        arguments = "--data", run.parent / "data.tsv", "--out", copy
        assert answer("train", *arguments, "--resume") is None
    assert files(copy) == before


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=5,
)
keys = st.sampled_from(["record", "settings", "vocab", "sha256"])


@given(json_values | st.dictionaries(keys, json_values))
def test_a_record_that_says_nonsense(place, value):
    copy = copied(place)
    (copy / "checkpoint.json").write_text(json.dumps(value), encoding="utf-8")
    naming = f"{re.escape(str(copy))} is damaged, or no checkpoint of this"
    refused(naming, transformer.load_checkpoint, copy)


@given(
    name=st.sampled_from([*FIELDS, "of record"]),
    value=st.integers(-2, 20) | st.none() | st.text() | st.floats(),
)
def test_a_record_of_another_configuration(place, name, value):
    """Some of it, as the heads, does not show in the shapes."""
    copy = copied(place)
    record = json.loads((copy / "checkpoint.json").read_bytes())
    settings = record["settings"] | {name: value}
    seal(
        copy,
        **{"vocab": value} if name == "of record" else {"settings": settings},
    )
    try:
        assert weights(copy) == weights(place)
    except ValueError:
        refused(re.escape(str(copy)), transformer.load_checkpoint, copy)


@given(
    name=st.sampled_from(["generator.proj.bias", "encoder.norm.a_2", "other"]),
    shape=st.none() | st.lists(st.integers(0, 9), max_size=3).map(tuple),
)
def test_weights_of_another_model(place, name, shape):
    copy = copied(place)
    tensors = load_file(place / "model.safetensors")
    before = {key: tensor.shape for key, tensor in tensors.items()}
    tensors.pop(name, None)
    if shape is not None:
        tensors[name] = torch.zeros(shape)
    assume({key: tensor.shape for key, tensor in tensors.items()} != before)
    save_file(tensors, copy / "model.safetensors")
    seal(copy)
    naming = f"{re.escape(str(copy))} .*does not fit the settings"
    refused(naming, transformer.load_checkpoint, copy)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_weights_that_are_no_numbers(place, value):
    copy = copied(place)
    tensors = load_file(place / "model.safetensors")
    tensors["generator.proj.bias"][0] = value
    save_file(tensors, copy / "model.safetensors")
    seal(copy)
    naming = f"{re.escape(str(copy))} .*model.safetensors: weights that are"
    refused(naming, transformer.load_checkpoint, copy)


@pytest.mark.parametrize("texts", [["a"], ["I read many, many other words"]])
def test_a_tokenizer_of_another_vocabulary(place, texts):
    copy = copied(place)
    other = transformer.train_tokenizer(texts, 400)
    other.save(str(copy / "tokenizer.json"))
    seal(copy)
    naming = f"{re.escape(str(copy))} .*tokenizer.json does not fit"
    refused(naming, transformer.load_checkpoint, copy)


names = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="/\\"),
    min_size=1,
    max_size=9,
)


@covers("save_checkpoint")
@given(st.sampled_from(["file", "full", "file/new", "full/new/new"]) | names)
def test_save_checkpoint(place, name):
    home = place.parent.with_name("home")
    shutil.rmtree(home, ignore_errors=True)
    (home / "full").mkdir(parents=True)
    (home / "file").write_text("mine", encoding="utf-8")
    before = files(home)
    arguments = home / name, *transformer.load_checkpoint(place)
    if (home / name).exists() or name == "file/new":
        naming = re.escape(str(home))
        refused(naming, transformer.save_checkpoint, *arguments)
        assert files(home) == before
    else:
        transformer.save_checkpoint(*arguments)
        assert weights(home / name) == weights(place)
        assert len(files(home)) == len(before) + 3


# Step 18: translations, averages, maps


@cache
def short_model():
    """One that takes 12 subwords."""
    torch.manual_seed(0)
    model = transformer.make_model(VOCAB, VOCAB, 1, 8, 8, 2, 0.0).eval()
    for embed in (model.src_embed, model.tgt_embed):
        embed[1].pe = embed[1].pe[:, :12]
    return model


sentences = st.lists(
    st.text("책을 읽었다. \n\t\0\u3000\u2028\ufeffI see뷁😀", max_size=9)
    | any_text,
    max_size=4,
)


@covers("translate")
@more
@given(sentences, st.integers(-1, 5))
def test_translate(texts, beam):
    """A line for each, the same as if it came alone."""
    call = transformer.translate, short_model(), TOKENIZER
    if re.search("[\ud800-\udfff]", "".join(texts)):
        refused("no Unicode", *call, texts, beam)
    elif any(len(row) > 12 for row in transformer.encode(TOKENIZER, texts)):
        refused("subwords: this model takes up to 12", *call, texts, beam)
    elif beam < 1 and any(text.strip() for text in texts):
        refused(f"beam is {beam}", *call, texts, beam)
    else:
        translate, *model = call
        found = translate(*model, texts, beam)
        assert found == [translate(*model, [text], beam)[0] for text in texts]
        for text, translation in zip(texts, found, strict=True):
            assert translation == " ".join(translation.split())
            assert text.strip() or not translation


@covers("evaluate")
@given(sentences, sentences)
@example([], [])
@example(["a b c d", "e"], ["a b c d", "f"])
def test_evaluate(translations, references):
    if len(translations) != len(references) or not references:
        refused(
            f"{len(translations)} translations have {len(references)} ref",
            *(transformer.evaluate, translations, references),
        )
    else:
        score, _, right = transformer.evaluate(translations, references)
        expected = sacrebleu.corpus_bleu(translations, [references])
        assert score == pytest.approx(expected.score)
        assert right == sum(map(str.__eq__, translations, references))


@covers("average_checkpoints")
@given(
    st.lists(st.integers(0, 4), max_size=4),
    st.sampled_from(["new", "run", "data.tsv"]),
)
@example([0, 2], "new")
def test_average_checkpoints(run, folder, which, out):
    first, last = transformer.checkpoints(run)
    foreign, broken = copied(first), copied(last)
    seal(foreign, data="other")
    (broken / "tokenizer.json").unlink()
    known = [first, last, foreign, broken, folder / "none"]
    folders, out = [known[i] for i in which], folder / out
    call = transformer.average_checkpoints, folders, out
    before = files(folder)
    bad = [str(known[i]) for i in which if i > 2]
    if not which:
        refused("no checkpoint to average", *call)
    elif bad:
        refused(re.escape(bad[0]), *call)
    elif 2 in which and set(which) != {2}:
        refused("are of two runs", *call)
    elif out.exists():
        refused(re.escape(str(out)), *call)
    else:
        transformer.average_checkpoints(folders, out)
        found, parts = weights(out), list(map(weights, folders))
        for name in found:
            mean = torch.tensor([part[name] for part in parts]).mean(0)
            torch.testing.assert_close(torch.tensor(found[name]), mean)
        shutil.rmtree(out)
    assert files(folder) == before


@covers("attention_maps")
@more
@given(src=ids.filter(len), tgt=ids, training=st.booleans())
def test_attention_maps(src, tgt, training):
    model = deepcopy(short_model()).train(training)
    call = transformer.attention_maps, model, src, tgt
    if training:
        refused("call eval", *call)
    elif len(tgt) < 2:
        refused("at least 2 tokens a row", *call)
    elif max(len(src), len(tgt) - 1) > 12:
        refused("over max_len, 12", *call)
    else:
        for name, maps in transformer.attention_maps(model, src, tgt).items():
            q = len(src) if name == "encoder" else len(tgt) - 1
            k = len(tgt) - 1 if name == "decoder" else len(src)
            assert maps.shape == (1, 2, q, k)
            torch.testing.assert_close(maps.sum(-1), torch.ones(1, 2, q))
            if name == "decoder" and tgt[0] != PAD:
                assert (maps.triu(1) == 0).all()


label = st.text(max_size=5) | st.text("$^_x", max_size=5)
labels = st.lists(label, min_size=1, max_size=3)


@covers("draw_attention")
@given(labels, labels)
@example(["$x^$", "^_\\{"], ["\0", "\n"])
def test_draw_attention(rows, columns):
    weights = torch.rand(1, 2, len(rows), len(columns))
    for wrong in (weights[0], weights[None]):
        naming = f"{len(rows)} rows, {len(columns)} columns"
        refused(naming, transformer.draw_attention, wrong, rows, columns)
    for wrong in ([rows, [*columns, "a"]], [rows[1:], columns]):
        refused(
            "weights .* are not", transformer.draw_attention, weights, *wrong
        )
    figure = transformer.draw_attention(weights, rows, columns)
    for panel in figure.axes:
        found = [label.get_text() for label in panel.get_xticklabels()]
        assert found == columns
        found = [label.get_text() for label in panel.get_yticklabels()]
        assert found == rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a glyph that no font has
        figure.savefig(io.BytesIO())


# The command line


def answer(*arguments, stdin=b"", course=None):
    """What the command line prints; None where it is refused, or shows how it
    is used.  Either is said on the standard error, and nothing else is.
    course: the folder that it starts in, and finds what is missing in."""
    out, err = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        if course is not None:
            patch.chdir(course)
            patch.setattr(transformer, "find", lambda path: course / path)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        for name, stream in (("stdout", out), ("stderr", err)):
            text = io.TextIOWrapper(stream, "utf-8", "backslashreplace")
            patch.setattr(sys, name, text)
        try:
            code = transformer.main([str(a) for a in arguments])
        except SystemExit as stopped:
            code, error = stopped.code, stopped.__context__
        sys.stdout.flush()
        sys.stderr.flush()
        said, complaint = (s.getvalue().decode() for s in (out, err))
    if not code:
        assert not complaint
        return said
    if code == 2:
        assert complaint.startswith("usage: ")
    else:
        assert re.fullmatch("error: .+", code)
        assert in_our_words(error) or str(error) not in code
    return None


@pytest.fixture(scope="module")
def course(folder, run):
    """The smallest course, with a run in it."""
    course = folder / "course"
    data = course / "data" / "ko-en"
    data.mkdir(parents=True)
    for name in ("train", "valid", "test"):
        (data / f"{name}.tsv").write_text(LINES, encoding="utf-8")
    shutil.copytree(run, course / "run")
    shutil.copytree(run / "epoch_0001", course / "models" / "ko-en")
    return course


def added(course, before):
    """What is new in the course, where nothing may have changed: of
    checkpoints only whole ones.  It is taken away again."""
    after = files(course)
    assert before.items() <= after.items()
    new = after.keys() - before.keys()
    for path in new:
        place = course / path.parent
        assert path.suffix != ".safetensors" or weights(place)
        assert not place.name.endswith(".new")
    for top in {course / path.parts[0] for path in new}:
        shutil.rmtree(top) if top.is_dir() else top.unlink()
    return new


COMMANDS = ["translate", "evaluate", "average"]
OPTIONS = ["--model", "--beam", "--data", "--out", "--attention", "--help"]
WORDS = ["책을", "run", "run/epoch_0001", "data/ko-en/test.tsv", "map.png"]
WORDS += ["0", "1", "2", "-1", "none", ".", "", "-", "--", "\udcff"]
words = st.sampled_from(WORDS)
arguments = st.builds(
    lambda command, text, options: [command, *text, *sum(options, ())],
    st.sampled_from(COMMANDS),
    st.lists(words | names, max_size=1),
    st.lists(st.tuples(st.sampled_from(OPTIONS), words | names), max_size=3),
)


@covers("main", "translate_command", "average_command", "open_model")
@given(arguments | st.lists(st.sampled_from(COMMANDS + OPTIONS) | words))
@example(["translate", "책을", "--model", "run", "--beam", "1"])
@example(["translate", "책을", "--model", "run", "--attention", "map.xyz"])
@example(["average", "run/epoch_0000", "run/epoch_0001", "--out", "new"])
def test_any_arguments(course, arguments):
    before = files(course)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a glyph that no font has
        said = answer(*arguments, course=course)
    assert not added(course, before) or said is not None


def test_no_standard_input(course):
    """As under `translate <&-`, or in a service."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", None)
        with pytest.raises(SystemExit, match="no standard input: give a"):
            transformer.main(["translate", "--model", str(course / "run")])


def test_an_argument_that_is_empty(course):
    """As "$NAME" is where the name is not set: it is no default."""
    call = {"course": course}
    assert answer("translate", "책을") is not None
    assert answer("translate", "책을", "--model", "", **call) is None
    assert answer("evaluate", "--data", "", **call) is None
    out = "--out", course / "new", *SMALL
    assert answer("train", "--data", "", *out, **call) is None
    assert not (course / "new").exists()


def test_a_long_text_of_several_lines(course):
    """It is refused in one line."""
    text = 6000 * "책\n"
    assert answer("translate", text, "--model", "run", course=course) is None


short = contents.filter(lambda content: len(content) < 200)


@given(short)
@example("책을\n\n집".encode("utf-8-sig"))
@example("책을\n".encode("utf-16"))
def test_any_standard_input(course, content):
    """A line for each line."""
    said = answer("translate", "--beam=1", stdin=content, course=course)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        assert said is None
    else:
        lines = re.split("\r\n|\r|\n", text)
        assert said.count("\n") == len(lines) - (not lines[-1])


@covers("evaluate_command")
@given(short)
@example(LINES.encode())
def test_any_text_to_evaluate(course, content):
    path = course.with_name("test.tsv")
    path.write_bytes(content)
    said = answer("evaluate", "--beam=1", "--data", path, course=course)
    pairs = pairs_of(content)
    assert (said is None) == (pairs is None)
    assert pairs is None or f" of {len(pairs)} exactly right" in said


NUMBERS = ["", "-1", "0", "0.5", "1", "2", "7", "1e9", "nan", "x"]
settings = st.dictionaries(
    st.sampled_from(list(FIELDS)), st.sampled_from(NUMBERS), max_size=1
)


@covers("train_command", "begin")
@given(
    content=st.just(LINES.encode()) | contents,
    settings=st.just({}) | settings,
    resume=st.sampled_from([False, False, False, True]),
)
@example(LINES.encode(), {}, False)
def test_any_training(course, content, settings, resume):
    path, before = course.with_name("other.tsv"), files(course)
    path.write_bytes(content)
    changed = [f"--{k.replace('_', '-')}={v}" for k, v in settings.items()]
    arguments = "--data", path, "--out", course / "new", *SMALL, *changed
    said = answer("train", *arguments, *["--resume"] * resume)
    pairs = pairs_of(content)
    if resume or pairs is None or len(dict(pairs)) < 2:
        assert said is None
    new = added(course, before)
    assert said is None or len(new) >= 2 * len(FILES)
