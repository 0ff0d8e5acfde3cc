"""Step 17 on: fast forms of the parts, training, and what it leaves."""

import dataclasses
import json
import math
import os
import random
import re
import shutil
import signal
import sys
from functools import cache
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen, check_output
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from tests.kills import Training, contents
from tests.snapshots import load, since
from tutorial.steps import ROOT, find_step

seeds = st.integers(0, 999)
teaching = load(16)
fast = since(17)
# The step that adds it; a test below says that 18 has the very same.
training = since(17, 17)

SMALL = {
    "vocab": 320,
    "layers": 1,
    "d_model": 32,
    "d_ff": 64,
    "heads": 2,
    "epochs": 4,
    "max_tokens": 50,
    "warmup": 10,
}


# The fast forms against those of the steps before


def copies(transformer, dropout=0.0, vocab=11, **sizes):
    """A model of step 16 and one of `transformer`, with equal weights."""
    sizes = {"N": 2, "d_model": 16, "d_ff": 32, "h": 4} | sizes
    slow, quick = (
        module.make_model(vocab, vocab, dropout=dropout, **sizes)
        for module in (teaching, transformer)
    )
    quick.load_state_dict(slow.state_dict())
    return slow, quick


def batch_of(transformer, lengths, vocab=11):
    """Rows of these lengths, from START to END, with padding after them."""
    pairs = []
    for length in lengths:
        middle = torch.randint(3, vocab, (length,)).tolist()
        pairs.append(([0, *middle, 1], [0, *reversed(middle), 1]))
    return transformer.collate(pairs)


@fast
@given(
    shape=st.tuples(*(st.integers(1, 5) for _ in range(5))),
    masked=st.sampled_from(["nothing", "keys", "any", "future"]),
    seed=seeds,
)
def test_fused_attention_gives_the_same_numbers(
    transformer, shape, masked, seed
):
    """And the same gradients, for each row that sees anything; a row that
    sees nothing is whatever it is, but a number."""
    torch.manual_seed(seed)
    batch, h, q, k, d_k = shape
    query = torch.randn(batch, h, q, d_k, requires_grad=True)
    key, value = (
        torch.randn(batch, h, k, d_k, requires_grad=True) for _ in range(2)
    )
    mask = {
        "nothing": None,
        "keys": torch.rand(batch, 1, 1, k) > 0.4,
        "any": torch.rand(batch, 1, q, k) > 0.6,
        "future": torch.ones(q, k, dtype=torch.bool).tril()[None, None],
    }[masked]
    seen = torch.ones(batch, h, q, dtype=torch.bool)
    if mask is not None:
        seen = mask.any(-1).expand(batch, h, q)
    found = []
    for module, fused in (
        (teaching, {}),
        (transformer, {}),
        (transformer, {"need_weights": False}),
    ):
        x, weights = module.attention(query, key, value, mask, **fused)
        assert (weights is None) == bool(fused)
        assert x.isfinite().all()
        grads = torch.autograd.grad(
            x[seen].square().sum(), [query, key, value]
        )
        found.append([x[seen], *grads])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


@fast
def test_fused_attention_refuses_the_same_arguments(transformer):
    query, key = torch.ones(1, 2, 3, 4), torch.ones(1, 2, 5, 4)
    for mask in (torch.ones(4), torch.ones(2, 1, 3, 5)):
        for need_weights in (True, False):
            with pytest.raises(ValueError, match="mask .* must broadcast"):
                transformer.attention(
                    query, key, key, mask, need_weights=need_weights
                )
    with pytest.raises(ValueError, match="equal lengths"):
        transformer.attention(query, key, query, need_weights=False)


@fast
def test_fused_attention_drops_as_many_weights(transformer):
    """With value = identity, the output is the weights after dropout."""
    torch.manual_seed(0)
    query, key = torch.zeros(1, 1, 400, 8), torch.zeros(1, 1, 50, 8)
    value = torch.eye(50)[None, None]
    dropout = torch.nn.Dropout(0.3)
    for need_weights in (True, False):
        x, _ = transformer.attention(
            query, key, value, None, dropout, need_weights
        )
        dropped = (x == 0).float().mean().item()
        assert dropped == pytest.approx(0.3, abs=0.02)
        left = x[x != 0]
        torch.testing.assert_close(left, torch.full_like(left, 1 / 50 / 0.7))
        kept, _ = transformer.attention(
            query, key, value, None, dropout.eval(), need_weights
        )
        torch.testing.assert_close(kept, torch.full_like(kept, 1 / 50))
        dropout.train()


@fast
def test_heads_keep_weights_only_when_asked(transformer):
    heads, x = (
        transformer.MultiHeadedAttention(2, 8).eval(),
        torch.ones(1, 3, 8),
    )
    plain = heads(x, x, x)
    assert heads.attn is None
    heads.need_weights = True
    torch.testing.assert_close(heads(x, x, x), plain)
    assert heads.attn.shape == (1, 2, 3, 3) and not heads.attn.requires_grad
    heads.need_weights = False
    heads(x, x, x)
    assert heads.attn is None, "not those of an earlier call"


@fast
@pytest.mark.parametrize("p", [0.0, 0.1, 0.3, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_fast_dropout_drops_each_element_on_its_own(transformer, p, dtype):
    """Four elements share a random number, and none of them may show it."""
    torch.manual_seed(0)
    x = torch.ones(1001, 401, dtype=dtype, requires_grad=True)  # odd: no 4n
    y = transformer.Dropout(p)(x)
    left = torch.tensor(1.0, dtype=dtype) / (1 - p)
    assert y.dtype == dtype and set(y.unique().tolist()) <= {0.0, left.item()}
    assert torch.equal(torch.autograd.grad(y.sum(), x)[0], y)
    dropped = (y == 0).double().flatten()
    error = 5 * math.sqrt(p * (1 - p) / (len(dropped) / 4))
    for place in range(4):
        share = dropped[place::4].mean().item()
        assert share == pytest.approx(p, abs=error)
    for apart in range(1, 5):
        both = (dropped[apart:] * dropped[:-apart]).mean().item()
        assert both == pytest.approx(p * p, abs=error)


@fast
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1, 5), (0, 4)])
def test_fast_dropout_takes_any_shape(transformer, shape):
    dropout = transformer.Dropout(0.5)
    x = torch.ones(shape)
    assert dropout(x).shape == shape
    assert torch.equal(dropout.eval()(x), x)


@fast
@given(st.integers(4, 40), st.sampled_from([1.0, 100.0]), seeds)
def test_fast_layer_norm_gives_the_same_numbers(
    transformer, features, scale, seed
):
    """As long as the deviation is far from eps: it stands beside the root in
    one and under it in the other."""
    torch.manual_seed(seed)
    x = torch.randn(3, 2, features, dtype=torch.double) * scale + 10
    x.requires_grad_()
    wanted = torch.randn_like(x)
    found = []
    for module in (teaching, transformer):
        norm = module.LayerNorm(features).double()
        torch.manual_seed(seed)
        for p in norm.parameters():
            torch.nn.init.normal_(p)
        y = norm(x)
        inputs = [x, norm.a_2, norm.b_2]
        found.append([y, *torch.autograd.grad((y * wanted).sum(), inputs)])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-3)


@fast
@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=12),
    st.sampled_from([0.0, 0.1, 0.4]),
    st.integers(0, 2),
    seeds,
)
def test_fast_loss_gives_the_same_numbers(
    transformer, target, smoothing, pad, seed
):
    """And the same gradients, with padding anywhere or everywhere."""
    torch.manual_seed(seed)
    y = torch.tensor(target[: len(target) // 2 * 2]).view(2, -1)
    x = torch.randn(*y.shape, 8, requires_grad=True)
    slow = teaching.Generator(8, 7)
    quick = transformer.Generator(8, 7)
    quick.load_state_dict(slow.state_dict())
    found = []
    for module, generator in ((teaching, slow), (transformer, quick)):
        criterion = module.LabelSmoothing(7, pad, smoothing)
        compute = module.SimpleLossCompute(generator, criterion)
        total, loss = compute(x, y, 5)
        assert not total.requires_grad
        grads = torch.autograd.grad(loss, [x, *generator.parameters()])
        found.append([total, loss, *grads])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


@fast
def test_no_smoothed_target_is_built(transformer):
    """Of a loss over n tokens and a vocabulary, what backward keeps is the
    log-probabilities themselves: nothing else has n times vocabulary."""
    generator = transformer.Generator(8, 1000)
    criterion = transformer.LabelSmoothing(1000, 2, 0.1)
    compute = transformer.SimpleLossCompute(generator, criterion)
    x, y = torch.randn(4, 30, 8), torch.randint(3, 1000, (4, 30))
    y[:, 10:] = 2
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: (kept.append(t), t)[1], lambda t: t
    ):
        compute(x, y, 40)
    large = {t.data_ptr(): t.numel() for t in kept if t.numel() >= 40_000}
    assert list(large.values()) == [40 * 1000]


@fast
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("tied", [False, True])
def test_the_whole_model_gives_the_same_gradients(
    transformer, smoothing, tied
):
    torch.manual_seed(3)
    slow, quick = copies(transformer)
    torch.manual_seed(4)
    batch = batch_of(transformer, [7, 1, 4, 2])
    found = []
    for module, model in ((teaching, slow), (transformer, quick)):
        if tied:
            module.tie_embeddings(model)
        criterion = module.LabelSmoothing(11, 2, smoothing)
        compute = module.SimpleLossCompute(model.generator, criterion)
        out = model(batch.src, batch.tgt, batch.src_mask, batch.tgt_mask)
        total, loss = compute(out, batch.tgt_y, batch.ntokens)
        loss.backward()
        found.append({n: p.grad for n, p in model.named_parameters()})
        found[-1]["loss"] = total
    assert found[0].keys() == found[1].keys()
    for name in found[0]:
        torch.testing.assert_close(
            found[0][name], found[1][name], atol=2e-5, rtol=1e-3, msg=name
        )


# run_epoch: accumulation, clipping, autocast


def after_one_update(transformer, batches, lr=1.0, **options):
    """How far one update moves the weights, the loss, and the model."""
    torch.manual_seed(0)
    _, model = copies(transformer)
    before = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    criterion = transformer.LabelSmoothing(11, 2, 0.1)
    loss, state = transformer.run_epoch(
        batches,
        model,
        transformer.SimpleLossCompute(model.generator, criterion),
        torch.optim.SGD(model.parameters(), lr),
        SimpleNamespace(step=lambda: None),
        accum_iter=len(batches),
        **options,
    )
    assert state.accum_step == 1
    after = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    return after - before, loss, model


def whole_and_halves(transformer):
    torch.manual_seed(1)
    whole = batch_of(transformer, [5, 3, 6, 1])
    halves = [
        transformer.Batch(src, tgt, 2)
        for src, tgt in zip(
            whole.src.split(2),
            torch.cat([whole.tgt[:, :1], whole.tgt_y], 1).split(2),
            strict=True,
        )
    ]
    return whole, halves


@fast
@pytest.mark.parametrize("clip", [None, 0.1, 100.0])
@pytest.mark.parametrize("bf16", [False, True])
def test_two_batches_in_an_update_are_one(transformer, clip, bf16):
    """The clipped gradient too is that of the update, not of a batch."""
    whole, halves = whole_and_halves(transformer)
    options = {
        "clip": clip,
        "autocast": torch.autocast("cpu", torch.bfloat16, bf16),
    }
    one, loss, _ = after_one_update(transformer, [whole], **options)
    two, same, _ = after_one_update(transformer, halves, **options)
    assert same == pytest.approx(loss, rel=1e-2 if bf16 else 1e-5)
    apart = (one - two).norm() / one.norm()
    assert apart < (0.05 if bf16 else 1e-5)


@fast
def test_clipping_shortens_the_gradient_and_keeps_its_direction(transformer):
    whole, _ = whole_and_halves(transformer)
    free, _, _ = after_one_update(transformer, [whole])
    assert free.norm() > 0.2
    for clip in (0.1, 0.01):
        found, _, _ = after_one_update(transformer, [whole], clip=clip)
        assert found.norm().item() == pytest.approx(clip, rel=1e-3)
        cosine = torch.cosine_similarity(found, free, dim=0)
        assert cosine.item() == pytest.approx(1, abs=1e-4)
    loose, _, _ = after_one_update(transformer, [whole], clip=1000)
    torch.testing.assert_close(loose, free)


@fast
def test_bfloat16_is_for_products_only(transformer):
    """Loss near that of float32; weights and gradients stay float32."""
    whole, _ = whole_and_halves(transformer)
    _, exact, _ = after_one_update(transformer, [whole])
    types = set()

    class Watched(torch.autocast):
        def __exit__(self, *args):
            types.add(torch.get_autocast_dtype("cpu"))
            return super().__exit__(*args)

    context = Watched("cpu", torch.bfloat16)
    _, loss, model = after_one_update(transformer, [whole], autocast=context)
    assert types == {torch.bfloat16}
    assert loss != exact and loss == pytest.approx(exact, rel=0.02)
    for p in model.parameters():
        assert p.dtype == p.grad.dtype == torch.float32
        assert p.isfinite().all()


# choose_device and Settings


def test_step_18_trains_as_step_17_does():
    """So one of them is enough for the tests that follow.  If training has to
    differ, let them run on both: `training = since(17)`."""
    names = (
        "run_epoch choose_device Settings read_corpus build_model checksum "
        "save_checkpoint load_checkpoint load_optimizer checkpoints digest "
        "begin train train_command"
    )
    for name in names.split():
        block = re.compile(
            rf"^(def|class) {name}\b.*?(?=\n\n\n)", re.MULTILINE | re.DOTALL
        )
        before, after = (
            block.search(find_step(number).snapshot)[0] for number in (17, 18)
        )
        assert before == after, name


@training
def test_what_is_not_named_is_as_in_the_model_that_comes_along(transformer):
    """It was trained with these three options and no other (README)."""
    path = ROOT / "models/ko-en/checkpoint.json"
    settings = transformer.Settings(dropout=0.0, smoothing=0.0, epochs=4)
    shipped = json.loads(path.read_text(encoding="utf-8"))["settings"]
    assert shipped == dataclasses.asdict(settings)


@training
def test_bfloat16_only_where_the_hardware_is_faster(transformer, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    for capabilities, dtype in (
        ({"amx_bf16": True}, torch.bfloat16),
        ({"amx_bf16": False}, None),
        ({}, None),
    ):
        monkeypatch.setattr(
            torch.cpu, "get_capabilities", lambda found=capabilities: found
        )
        assert transformer.choose_device() == (torch.device("cpu"), dtype)
        assert transformer.choose_device(fp32=True)[1] is None
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert transformer.choose_device() == (torch.device("mps"), None)


@training
def test_each_process_has_its_gpu(transformer, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        torch.cuda, "is_bf16_supported", lambda including_emulation: True
    )
    assert transformer.choose_device()[0] == torch.device("cuda", 0)
    monkeypatch.setenv("LOCAL_RANK", "3")
    device = torch.device("cuda", 3)
    assert transformer.choose_device() == (device, torch.bfloat16)
    assert transformer.choose_device(fp32=True) == (device, None)


# In a process of its own, which never goes back to the old way.
FREED_MEMORY = """
import resource
import torch
from tests.snapshots import load

def pages():
    "How many the kernel has to give for ten large tensors, one by one."
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        torch.ones(4096, 4096)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

pages()
print(pages())
load(17).keep_freed_memory()
pages()
print(pages())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="of Linux's malloc")
def test_freed_memory_is_used_again():
    command = [sys.executable, "-c", FREED_MEMORY]
    before, after = map(int, check_output(command, cwd=ROOT).split())
    assert after < before / 10


nonsense = [
    ("epochs", "0"),
    ("epochs", "-1"),
    ("epochs", "10000"),  # its folder would have another form
    ("accum", "0"),
    ("factor", "0"),
    ("factor", "-1"),
    ("factor", "nan"),
    ("factor", "inf"),
    ("clip", "0"),
    ("clip", "nan"),
    ("smoothing", "1"),
    ("smoothing", "-0.1"),
    ("smoothing", "nan"),
    ("dropout", "1"),
    ("dropout", "-0.1"),
    ("dropout", "nan"),
    ("warmup", "0"),
    ("max_tokens", "0"),
    ("max_tokens", "3"),
    ("layers", "0"),
    ("layers", "-1"),
    ("d_model", "0"),
    ("d_model", "-2"),
    ("d_model", "9"),
    ("d_ff", "0"),
    ("d_ff", "-1"),
    ("heads", "0"),
    ("heads", "-2"),
    ("heads", "3"),
    ("vocab", "259"),
    ("vocab", "-1"),
    ("seed", str(2**70)),
]


@training
@pytest.mark.parametrize("name, value", nonsense)
def test_nonsense_is_named_and_leaves_no_run(
    transformer, corpus, tmp_path, monkeypatch, name, value
):
    """So that the next try, with a better value, finds an empty place."""

    def trains(*args, **kwargs):
        pytest.fail(f"{name} {value} is accepted")

    monkeypatch.setattr(transformer, "run_epoch", trains)
    arguments = {**SMALL, "epochs": 1, name: value}
    message = refused(
        transformer,
        *["train", "--data", corpus, "--out", tmp_path / "run"],
        *(f"--{key.replace('_', '-')}={x}" for key, x in arguments.items()),
    )
    called = {"heads": "heads|h", "layers": "layers|N", "d_model": "d_model|h"}
    assert re.search(rf"\b({called.get(name, name)})", message), message
    assert not list(tmp_path.glob("run/*"))


@training
@pytest.mark.parametrize("name, value", [("epochs", 2.5), ("seed", "one")])
def test_a_setting_of_another_type_is_refused(
    transformer, tmp_path, capsys, name, value
):
    with pytest.raises(SystemExit) as stopped:
        transformer.main(["train", "--out=x", f"--{name}={value}"])
    assert stopped.value.code == 2
    assert f"--{name}" in capsys.readouterr().err


# Training


def sentence(words):
    """A pair: words of one letter, and the same in capitals."""
    return f"{' '.join(words)}\t{' '.join(words).upper()}\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """40 pairs to learn, of which the longest fills a batch alone."""
    order, lines = random.Random(0), {}
    while len(lines) < 43:
        words = order.choices("abcdefgh", k=order.randint(1, 5))
        lines[sentence(words)] = True
    lines = [*lines, sentence(12 * "ab")]
    path = tmp_path_factory.mktemp("training") / "corpus"
    path.mkdir()
    for name, part in (("train", lines[4:]), ("valid", lines[:4])):
        (path / f"{name}.tsv").write_text("".join(part), encoding="utf-8")
    return path


def train(transformer, data, out, **changed):
    """A run from its beginning, quietly: its last checkpoint."""
    settings = transformer.Settings(**(SMALL | changed))
    return transformer.train(data, out, settings, log=None)


def refused(transformer, *arguments):
    """The message with which the command line stops."""
    with pytest.raises(SystemExit) as stopped:
        transformer.main([str(argument) for argument in arguments])
    assert isinstance(stopped.value.code, str), "not 0, and not a number"
    assert stopped.value.code.startswith("error: ")
    return stopped.value.code


def names(transformer, run):
    return [folder.name for folder in transformer.checkpoints(run)]


def record(folder):
    """All that a checkpoint says of itself.  It has the checksums of its
    files: of two with equal records, all weights are equal, of Adam too."""
    path = folder / "checkpoint.json"
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def uninterrupted(transformer, corpus):
    step = Path(transformer.__file__).parent.name
    return train(transformer, corpus, corpus.with_name(f"run of {step}"))


@pytest.fixture
def whole(transformer, corpus):
    """The last checkpoint of a run that nothing disturbed."""
    return uninterrupted(transformer, corpus)


@pytest.mark.parametrize("vocab", [300, 30_000])
@fast
def test_embeddings_start_as_long_in_any_vocabulary(transformer, vocab):
    settings = transformer.Settings(layers=1, d_model=64, d_ff=8)
    torch.manual_seed(0)
    model = transformer.build_model(settings, vocab)
    matrix = model.generator.proj.weight
    rows = model.src_embed[0](torch.arange(vocab))
    torch.testing.assert_close(rows, 8 * matrix)
    assert rows.norm(dim=1).mean().item() == pytest.approx(8, rel=0.02)
    assert rows.mean().item() == pytest.approx(0, abs=0.03)


@training
def test_training_learns(transformer, whole):
    history = record(whole)["history"]
    assert len(history) == SMALL["epochs"]
    assert history[-1][0] < 0.7 * history[0][0]
    assert all(0 < valid < 5 for _, valid in history)
    state = record(whole)["state"]
    assert state["samples"] == 4 * 40
    assert record(whole)["settings"]["max_tokens"] == 50


@training
def test_only_settings_and_data_decide_the_weights(
    transformer, corpus, tmp_path, whole
):
    torch.manual_seed(99)
    random.seed(99)
    again = train(transformer, corpus, tmp_path / "again")
    assert record(again) == record(whole)
    other = train(transformer, corpus, tmp_path / "other", seed=1, epochs=1)
    assert record(other)["history"][0] != record(whole)["history"][0]


@training
def test_float32_on_request(transformer, corpus, tmp_path, monkeypatch, whole):
    """On a machine that is faster in bfloat16.  A resumed run goes on in what
    it began with, whatever it is told."""
    monkeypatch.setattr(
        torch.cpu, "get_capabilities", lambda: {"amx_bf16": True}
    )
    settings, out = transformer.Settings(**SMALL), tmp_path / "fp32"
    with interrupted_at(transformer, "collate", 10):
        transformer.train(corpus, out, settings, fp32=True, log=None)
    exact = transformer.train(corpus, out, log=None)
    for what in ("history", "sha256"):
        assert record(exact)[what] == record(whole)[what]
    quick = train(transformer, corpus, tmp_path / "bf16", epochs=1)
    found, _ = record(quick)["history"][0]
    expected, _ = record(whole)["history"][0]
    assert found != expected and found == pytest.approx(expected, rel=0.05)
    for file in FILES[:2]:
        for tensor in load_file(quick / file).values():
            assert tensor.dtype == torch.float32


@training
def test_a_loss_that_is_no_number_stops_the_run(transformer, corpus, tmp_path):
    """Rather than fill the disk with weights that are none."""
    message = refused(
        transformer,
        *["train", "--data", corpus, "--out", tmp_path / "run"],
        *(f"--{k.replace('_', '-')}={v}" for k, v in SMALL.items()),
        "--factor=1e9",
    )
    assert "loss" in message and "nan" in message
    for folder in transformer.checkpoints(tmp_path / "run"):
        for tensor in load_file(folder / "model.safetensors").values():
            assert tensor.isfinite().all()


@training
def test_a_run_tells_what_it_does(transformer, corpus, tmp_path, capsys):
    settings = transformer.Settings(**(SMALL | {"epochs": 2}))
    said = []
    transformer.train(corpus, tmp_path / "run", settings, log=said.append)
    assert "CPU, 1 thread" in said[0] and "float32" in said[0]
    assert "40 pairs to learn, 4 to validate" in said[0]
    assert re.search(r"[\d,]+ parameters", said[0])
    for epoch, text in enumerate(said[1:], start=1):
        assert text.startswith(f"epoch {epoch} of 2: loss ")
        assert "in validation" in text and "min left" in text
    # A line of progress is rewritten; what stays is behind the last return.
    bars = capsys.readouterr().out.split("\n")[:-1]
    assert len(bars) == 2  # one an epoch
    for bar in bars:
        kept = bar.split("\r")[-1]
        assert re.fullmatch(r"\d+ updates, [\d,]+ tokens", kept)


@training
def test_a_quiet_run_prints_nothing(transformer, corpus, tmp_path, capsys):
    train(transformer, corpus, tmp_path / "run", epochs=1)
    assert capsys.readouterr().out == ""


@training
def test_the_rate_of_a_resumed_run_continues(
    transformer, corpus, tmp_path, monkeypatch
):
    """The schedule asks for each update once, and ends at 0."""
    asked, rate = [], transformer.rate

    def watched(step, *rest):
        asked.append(step)
        return rate(step, *rest)

    monkeypatch.setattr(transformer, "rate", watched)
    train(transformer, corpus, tmp_path / "whole", epochs=3)
    updates = asked[-1]
    assert asked == list(range(updates + 1)) and updates % 3 == 0
    asked.clear()
    with interrupted_at(transformer, "save_checkpoint", 3):
        train(transformer, corpus, tmp_path / "run", epochs=3)
    before = list(asked)
    asked.clear()
    transformer.train(corpus, tmp_path / "run", log=None)
    assert before == list(range(2 * updates // 3 + 1))
    assert asked == list(range(updates // 3, updates + 1))


@training
def test_only_the_last_checkpoints_are_kept(transformer, corpus, tmp_path):
    train(transformer, corpus, tmp_path / "run", epochs=7, max_tokens=500)
    assert transformer.KEPT == 5
    assert names(transformer, tmp_path / "run") == [
        f"epoch_000{i}" for i in (3, 4, 5, 6, 7)
    ]
    assert len(list((tmp_path / "run").iterdir())) == 5


@training
def test_a_removal_that_stops_halfway_leaves_no_half_of_a_checkpoint(
    transformer, corpus, tmp_path, monkeypatch
):
    run = tmp_path / "run"

    def halfway(folder, ignore_errors=False):
        if folder.exists():
            (folder / "model.safetensors").unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(transformer.shutil, "rmtree", halfway)
        with pytest.raises(KeyboardInterrupt):
            train(transformer, corpus, run, epochs=7, max_tokens=500)
    for folder in transformer.checkpoints(run):
        transformer.load_checkpoint(folder)
    transformer.train(corpus, run, log=None)
    assert len(list(run.iterdir())) == 5


@training
def test_a_run_begins_with_the_untrained_model(
    transformer, corpus, tmp_path, whole
):
    settings = transformer.Settings(**SMALL)
    transformer.begin(corpus, tmp_path / "run", settings)
    assert names(transformer, tmp_path / "run") == ["epoch_0000"]
    transformer.train(corpus, tmp_path / "run", log=None)
    folder = transformer.checkpoints(tmp_path / "run")[-1]
    assert record(folder) == record(whole)


@training
def test_a_long_pair_to_validate_is_refused_at_once(
    transformer, corpus, tmp_path
):
    """Not after the first epoch, which would be lost."""
    data = shutil.copytree(corpus, tmp_path / "data")
    with open(data / "valid.tsv", "a", encoding="utf-8") as file:
        file.write(sentence(50 * "a"))
    said = []
    settings = transformer.Settings(**SMALL)
    with pytest.raises(ValueError, match="1 pairs are over max_tokens"):
        transformer.train(data, tmp_path / "run", settings, log=said.append)
    assert not [text for text in said if text.startswith("epoch")]
    assert names(transformer, tmp_path / "run") == []


# Checkpoints


@pytest.fixture
def small(transformer, tmp_path):
    """A checkpoint, and what was saved: folder, model, tokenizer, record."""
    settings = transformer.Settings(**SMALL)
    tokenizer = transformer.train_tokenizer(["책을 읽다", "read a book"], 300)
    torch.manual_seed(0)
    model = transformer.build_model(settings, tokenizer.get_vocab_size())
    adam = torch.optim.Adam(model.parameters())
    sum(p.square().sum() for p in model.parameters()).backward()
    adam.step()
    saved = {
        "settings": dataclasses.asdict(settings),
        "vocab": tokenizer.get_vocab_size(),
        "note": "책",
    }
    folder = tmp_path / "책 run" / "epoch_0001"
    transformer.save_checkpoint(folder, model, tokenizer, saved, adam)
    return folder, model, tokenizer, saved, adam


@training
def test_what_is_saved_is_loaded(transformer, small):
    folder, model, tokenizer, saved, adam = small
    found, same_tokenizer, same_record = transformer.load_checkpoint(folder)
    assert not found.training
    expected = dict(model.named_parameters())
    for name, p in found.named_parameters():
        assert torch.equal(p, expected.pop(name)) and p.requires_grad
    assert not expected
    assert found.generator.proj.weight is found.src_embed[0].lut.weight
    assert same_tokenizer.to_str() == tokenizer.to_str()
    assert saved.items() <= same_record.items()
    other = torch.optim.Adam(found.parameters())
    transformer.load_optimizer(folder, found, other)
    for p, q in zip(model.parameters(), found.parameters(), strict=True):
        assert adam.state[p].keys() == other.state[q].keys()
        for key, value in adam.state[p].items():
            assert torch.equal(value, other.state[q][key])


@training
def test_a_record_has_a_line_for_each_setting(transformer, small):
    folder, *_ = small
    text = (folder / "checkpoint.json").read_text(encoding="utf-8")
    assert '\n  "d_model": 32,\n' in text


@training
def test_a_checkpoint_has_weights_and_text_and_no_pickle(transformer, small):
    folder, model, *_ = small
    assert sorted(path.name for path in folder.iterdir()) == [
        "checkpoint.json",
        "model.safetensors",
        "optimizer.safetensors",
        "tokenizer.json",
    ]
    text = (folder / "checkpoint.json").read_text(encoding="utf-8")
    assert list(json.loads(text)["sha256"]) == [
        "model.safetensors",
        "optimizer.safetensors",
        "tokenizer.json",
    ]


@training
def test_a_tied_matrix_is_stored_once_and_constants_never(transformer, small):
    folder, model, *_ = small
    tensors = load_file(folder / "model.safetensors")
    assert tensors.keys() == dict(model.named_parameters()).keys()
    assert not [name for name in tensors if name.endswith("pe")]
    size = sum(p.nbytes for p in model.parameters())
    assert sum(t.nbytes for t in tensors.values()) == size


def test_nothing_is_pickled():
    for number in (17, 18):
        text = find_step(number).snapshot
        assert not re.search(r"pickle|torch\.(save|load)\b", text)


class interrupted_at:
    """Let the n-th call of a function of the module not come back."""

    def __init__(self, module, name, n, error=KeyboardInterrupt):
        self.module, self.name, self.n, self.error = module, name, n, error

    def __enter__(self):
        self.original, self.calls = getattr(self.module, self.name), 0

        def interrupting(*args, **kwargs):
            self.calls += 1
            if self.calls == self.n:
                raise self.error
            return self.original(*args, **kwargs)

        setattr(self.module, self.name, interrupting)

    def __exit__(self, kind, error, trace):
        setattr(self.module, self.name, self.original)
        assert kind is not None and issubclass(kind, self.error)
        return True


def half_a_file(tensors, path):
    """What a full disk leaves."""
    save_file(tensors, path)
    path.write_bytes(path.read_bytes()[:1000])
    raise OSError(28, "No space left on device")


@training
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("name, n", [("save_file", 2), ("checksum", 3)])
def test_a_checkpoint_is_complete_or_not_there(
    transformer, small, error, name, n
):
    folder, *what = small
    with interrupted_at(transformer, name, n, error):
        transformer.save_checkpoint(folder.with_name("epoch_0002"), *what)
    assert names(transformer, folder.parent) == ["epoch_0001"]
    transformer.save_checkpoint(folder.with_name("epoch_0002"), *what)
    assert names(transformer, folder.parent) == ["epoch_0001", "epoch_0002"]
    assert len(list(folder.parent.iterdir())) == 2, "nothing left over"
    transformer.load_checkpoint(folder.with_name("epoch_0002"))


@training
def test_half_a_file_is_no_checkpoint(transformer, small, monkeypatch):
    folder, *what = small
    monkeypatch.setattr(transformer, "save_file", half_a_file)
    with pytest.raises(OSError, match="No space"):
        transformer.save_checkpoint(folder.with_name("epoch_0002"), *what)
    assert names(transformer, folder.parent) == ["epoch_0001"]


@training
@pytest.mark.parametrize("other", ["epoch_mean", "epoch_0002.new", "best"])
def test_what_lies_beside_the_checkpoints_is_none(transformer, small, other):
    """An average, say, which has no state of an optimizer to resume from."""
    folder, *_ = small
    shutil.copytree(folder, folder.with_name(other))
    assert names(transformer, folder.parent) == ["epoch_0001"]


@training
@pytest.mark.parametrize("inside", ["notes.txt", "epoch_0001/notes.txt"])
def test_saving_takes_nothing_away(transformer, small, tmp_path, inside):
    """Whatever is at the place that was named for a checkpoint by mistake."""
    _, *what = small
    path = tmp_path / "documents" / inside
    path.parent.mkdir(parents=True)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises((ValueError, OSError), match="documents"):
        transformer.save_checkpoint(tmp_path / "documents", *what)
    assert path.read_text(encoding="utf-8") == "mine"


def change_a_byte(path, where=0.5):
    content = bytearray(path.read_bytes())
    content[int(where * (len(content) - 1))] ^= 1
    path.write_bytes(content)


def cut(path):
    path.write_bytes(path.read_bytes()[:-10])


def set_json(path, **changed):
    found = json.loads(path.read_text(encoding="utf-8"))
    for key, value in changed.items():
        if isinstance(value, dict):
            value = found[key] | value
        found[key] = value
    path.write_text(json.dumps(found), encoding="utf-8")


FILES = ["model.safetensors", "optimizer.safetensors", "tokenizer.json"]


@training
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", [change_a_byte, cut, os.unlink])
def test_a_damaged_file_is_named(transformer, small, file, damage):
    folder, *_ = small
    damage(folder / file)
    with pytest.raises(ValueError, match="damaged") as error:
        transformer.load_checkpoint(folder)
    assert str(folder) in str(error.value) and file in str(error.value)


@training
@given(where=st.floats(0, 1), file=st.sampled_from(FILES))
def test_any_changed_byte_is_noticed(
    transformer, corpus, tmp_path_factory, where, file
):
    whole = uninterrupted(transformer, corpus)
    folder = tmp_path_factory.mktemp("damaged") / "epoch_0001"
    shutil.copytree(whole, folder)
    change_a_byte(folder / file, where)
    with pytest.raises(ValueError, match=f"{file} is not what was saved"):
        transformer.load_checkpoint(folder)


@training
@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", '{"sha256": {}}', "\ufeff{}", "\0"],
    ids=repr,
)
def test_a_broken_record_is_named(transformer, small, text):
    folder, *_ = small
    (folder / "checkpoint.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="damaged, or no chec") as error:
        transformer.load_checkpoint(folder)
    assert str(folder) in str(error.value)


@training
@pytest.mark.parametrize(
    "changed",
    [
        {"settings": {"d_model": 64}},
        {"settings": {"layers": 2}},
        {"settings": {"layers": 0}},
        {"settings": {"heads": 4}},  # fits the weights, but is not the model
        {"settings": {"colour": "blue"}},
        {"settings": None},
        {"vocab": 301},
        {"sha256": {"model.safetensors": "0"}},
        {"sha256": None},
    ],
    ids=str,
)
def test_a_record_of_another_model_is_refused(transformer, small, changed):
    folder, *_ = small
    set_json(folder / "checkpoint.json", **changed)
    with pytest.raises(ValueError, match="damaged, or no chec") as error:
        transformer.load_checkpoint(folder)
    assert str(folder) in str(error.value)


@training
def test_a_foreign_place_is_no_checkpoint(transformer, small, tmp_path):
    folder, *_ = small
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    places = [
        tmp_path,
        tmp_path / "nowhere",
        tmp_path / "config.json",
        folder / "model.safetensors",
        folder.parent,
    ]
    for place in places:
        with pytest.raises(ValueError, match="is no checkpoint") as error:
            transformer.load_checkpoint(place)
        assert str(place) in str(error.value)


# Interrupted and resumed


@training
@pytest.mark.parametrize(
    "name, n",
    [
        ("collate", 1),
        ("collate", 16),
        ("collate", 21),
        ("save_checkpoint", 2),
        ("save_file", 8),
        ("checksum", 6),
        ("load_checkpoint", 1),
    ],
)
def test_an_interrupted_run_ends_with_the_same_weights(
    transformer, corpus, tmp_path, whole, name, n
):
    with interrupted_at(transformer, name, n):
        train(transformer, corpus, tmp_path / "run")
    last = transformer.train(corpus, tmp_path / "run", log=None)
    assert record(last) == record(whole)
    assert names(transformer, tmp_path / "run")[-1] == "epoch_0004"


@training
def test_a_run_may_be_interrupted_again_and_again(
    transformer, corpus, tmp_path, whole
):
    with interrupted_at(transformer, "collate", 10):
        train(transformer, corpus, tmp_path / "run")
    for n in (3, 12, 7):
        with interrupted_at(transformer, "collate", n):
            transformer.train(corpus, tmp_path / "run", log=None)
    last = transformer.train(corpus, tmp_path / "run", log=None)
    assert record(last) == record(whole)


@training
@pytest.mark.parametrize("name", ["train_tokenizer", "save_file", "checksum"])
def test_a_run_interrupted_before_it_began_begins_again(
    transformer, corpus, tmp_path, whole, name
):
    with interrupted_at(transformer, name, 1):
        train(transformer, corpus, tmp_path / "run", epochs=1)
    assert names(transformer, tmp_path / "run") == []
    train(transformer, corpus, tmp_path / "run", epochs=1)
    expected = ["epoch_0000", "epoch_0001"]
    assert names(transformer, tmp_path / "run") == expected
    assert len(list((tmp_path / "run").iterdir())) == 2


def start(code, *arguments):
    """Python in a process of its own, beside the file of step 17, on a
    console of ASCII."""
    return Popen(
        [sys.executable, *code, *map(str, arguments)],
        cwd=find_step(17).executed_file.parent,
        env={
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PYTHONIOENCODING": "ascii",
        },
        stdout=PIPE,
        stderr=STDOUT,
        encoding="ascii",
    )


def ctrl_c(process):
    process.send_signal(signal.SIGINT)


@pytest.fixture
def ctrl_c_is_heard():
    """What a shell started in the background ignores it, and so would what
    that starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@training
@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_stopped_at_any_moment_a_run_ends_with_the_same_weights(
    transformer, corpus, tmp_path
):
    """A kill says nothing, Ctrl-C how to go on; `make kills` does it often."""
    settings = SMALL | {"epochs": 30}  # not over before it is stopped
    run = Training(transformer, corpus, tmp_path / "run", settings)
    for aim, seconds, how in (
        ("before epoch 0", 0.5, Popen.kill),
        ("within an epoch", 0.1, ctrl_c),
        ("while writing", 0.0, Popen.kill),
    ):
        assert run.stop(aim, seconds, how), "it ended before"
        assert run.losses() == []
    whole = train(transformer, corpus, tmp_path / "whole", **settings)
    assert run.end() == contents(whole)
    said = run.log.read_text(encoding="utf-8")
    assert "epoch 30 of 30: loss" in said and "tokens/s" in said
    assert "stopped" in said and "--resume" in said
    assert "Traceback" not in said


@training
def test_what_a_kill_must_not_cost_is_named(
    transformer, corpus, tmp_path, whole
):
    out = shutil.copytree(whole.parent, tmp_path / "run")
    run = Training(transformer, corpus, out, SMALL)
    assert run.losses() == []
    (out / "epoch_0000").rename(out / "epoch_0005")
    assert run.losses() == [], "only the last ones are kept"
    shutil.rmtree(out / "epoch_0005")
    change_a_byte(out / "epoch_0004" / "model.safetensors")
    lost, damaged = run.losses()
    assert lost == "epoch_0005 is lost"
    assert str(out / "epoch_0004") in damaged and "damaged" in damaged


@training
def test_a_finished_run_has_nothing_to_resume(
    transformer, corpus, tmp_path, whole
):
    copy = shutil.copytree(whole.parent, tmp_path / "run")
    last = transformer.train(corpus, copy, log=None)
    assert last.name == "epoch_0004"
    assert record(last) == record(whole)


# What train refuses


@training
@pytest.mark.parametrize("arguments", [[], ["train"]], ids=" ".join)
def test_what_is_missing_is_named(transformer, capsys, arguments):
    with pytest.raises(SystemExit) as stopped:
        transformer.main(arguments)
    assert stopped.value.code == 2
    missing = "--out" if arguments else "COMMAND"
    expected = f"the following arguments are required: {missing}\n"
    assert capsys.readouterr().err.endswith(expected)


@training
@pytest.mark.parametrize("exists", [True, False])
def test_there_must_be_a_run_to_resume(transformer, corpus, tmp_path, exists):
    out = tmp_path / "run"
    if exists:
        out.mkdir()
    message = refused(
        transformer, "train", "--data", corpus, "--out", out, "--resume"
    )
    assert str(out) in message and "no checkpoint to go on from" in message


@training
def test_a_resumed_run_keeps_its_settings(transformer, corpus, tmp_path):
    message = refused(
        transformer,
        *["train", "--data", corpus, "--out", tmp_path, "--resume"],
        *["--epochs", "9", "--d-model", "64"],
    )
    assert message.endswith("leave out d_model, epochs")


@training
def test_a_resumed_run_keeps_its_data(transformer, corpus, tmp_path, whole):
    run = shutil.copytree(whole.parent, tmp_path / "run")
    data = shutil.copytree(corpus, tmp_path / "data")
    with open(data / "valid.tsv", "a", encoding="utf-8") as file:
        file.write(sentence("ij"))
    message = refused(
        transformer, "train", "--data", data, "--out", run, "--resume"
    )
    assert str(data) in message and "not the data" in message
    # The same data elsewhere is the same.
    moved = shutil.copytree(corpus, tmp_path / "moved")
    assert transformer.train(moved, run, log=None).name == "epoch_0004"


@training
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_checkpoint_is_not_resumed(
    transformer, corpus, tmp_path, whole, file
):
    run = shutil.copytree(whole.parent, tmp_path / "run")
    change_a_byte(run / "epoch_0004" / file)
    message = refused(
        transformer, "train", "--data", corpus, "--out", run, "--resume"
    )
    assert str(run / "epoch_0004") in message and file in message


@training
def test_a_run_is_not_overwritten(transformer, corpus, tmp_path, whole):
    run = shutil.copytree(whole.parent, tmp_path / "run")
    message = refused(transformer, "train", "--data", corpus, "--out", run)
    assert str(run) in message and "resume" in message
    assert record(run / "epoch_0004") == record(whole)


@training
def test_a_disk_with_no_room_is_noticed_first(
    transformer, corpus, tmp_path, monkeypatch
):
    space = SimpleNamespace(total=2**30, used=2**30, free=2**20)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: space)
    out = tmp_path / "run"
    message = refused(transformer, "train", "--data", corpus, "--out", out)
    assert str(out) in message and "1 MB free" in message
    assert names(transformer, out) == []


@training
def test_room_for_five_checkpoints_and_one_being_written_is_enough(
    transformer, corpus, tmp_path, whole, monkeypatch
):
    """Each with the weights and two averages of them."""
    weights = load_file(whole / "model.safetensors").values()
    space = SimpleNamespace(free=6 * 3 * sum(w.nbytes for w in weights))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: space)
    settings = transformer.Settings(**SMALL)
    transformer.begin(corpus, tmp_path / "run", settings)
    space.free -= 1
    with pytest.raises(OSError, match="MB free; the checkpoints of this run"):
        transformer.begin(corpus, tmp_path / "other", settings)


@training
def test_a_disk_that_fills_up_is_no_traceback(
    transformer, corpus, tmp_path, whole
):
    """The library that writes the weights has an error of its own."""
    out = tmp_path / "run"
    full = interrupted_at(transformer, "save_file", 5, SafetensorError)
    with full:
        train(transformer, corpus, out)
    full = SafetensorError("I/O error: No space left on device (os error 28)")
    with pytest.MonkeyPatch.context() as patch:

        def fails(tensors, path):
            raise full

        patch.setattr(transformer, "save_file", fails)
        message = refused(
            transformer, "train", "--data", corpus, "--out", out, "--resume"
        )
    assert "No space left" in message
    last = transformer.train(corpus, out, log=None)
    assert record(last) == record(whole)


@training
def test_a_file_in_place_of_the_folder_is_named(transformer, corpus, tmp_path):
    (tmp_path / "run").write_text("mine", encoding="utf-8")
    for out in (tmp_path / "run", tmp_path / "run" / "deeper"):
        message = refused(transformer, "train", "--data", corpus, "--out", out)
        assert str(tmp_path / "run") in message
    assert (tmp_path / "run").read_text(encoding="utf-8") == "mine"


@training
def test_data_that_is_not_there_is_named(transformer, tmp_path):
    data = tmp_path / "nowhere.tsv"
    message = refused(
        transformer, "train", "--data", data, "--out", tmp_path / "run"
    )
    assert str(data) in message
    assert not (tmp_path / "run").exists()


# Several processes


@training
def test_two_processes_follow_one(transformer, corpus, tmp_path):
    """20 updates or more of the same batches, half of each in a process.

    The gradient of a key's bias is 0 but for rounding, as it moves all scores
    of a row alike; Adam makes steps of full length of it, in any direction.
    No output depends on it, so it is left out.  Elsewhere an update is at
    most the rate long, and 20 of these at most 0.02: far more than the
    difference that is allowed."""
    settings = SMALL | {
        "dropout": 0.0,
        "epochs": 4,
        "factor": 0.05,
        "clip": 0.5,
    }
    out = tmp_path / "two"
    run = start(
        ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"],
        *["transformer.py", "train", "--data", corpus, "--out", out],
        *(f"--{k.replace('_', '-')}={v}" for k, v in settings.items()),
    )
    one = train(transformer, corpus, tmp_path / "one", **settings)
    output, _ = run.communicate(timeout=300)
    assert run.returncode == 0, output
    assert "2 processes" in output
    two = out / one.name
    mine, theirs = record(one), record(two)
    assert mine["state"]["accum_step"] >= 20
    for name in ("step", "accum_step", "tokens"):
        assert mine["state"][name] == theirs["state"][name]
    expected = torch.tensor(mine["history"])
    found = torch.tensor(theirs["history"])
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)
    begun = load_file(tmp_path / "one" / "epoch_0000" / "model.safetensors")
    weights = load_file(one / "model.safetensors")
    moved = apart = 0
    for name, w in load_file(two / "model.safetensors").items():
        if not re.search(r"attn\.linears\.1\.bias$", name):
            apart = max(apart, (w - weights[name]).abs().max().item())
            moved = max(moved, (w - begun[name]).abs().max().item())
    assert apart < 1e-4 and moved > 1e-3


@training
def test_the_second_process_waits_for_epoch_0(
    transformer, corpus, tmp_path, monkeypatch
):
    """Not every backend waits when it starts."""

    class Waits(Exception):
        pass

    def barrier():
        raise Waits

    monkeypatch.setattr(
        transformer,
        "dist",
        SimpleNamespace(init_process_group=str, barrier=barrier),
    )
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(Waits):
        train(transformer, corpus, tmp_path / "run")


def test_two_processes_are_refused_in_one_sentence(corpus, tmp_path):
    """The other process waits, and has nothing to say of its own."""
    out = tmp_path / "run"
    (out / "epoch_0000").mkdir(parents=True)
    run = start(
        ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"],
        *["transformer.py", "train", "--data", corpus, "--out", out],
    )
    output, _ = run.communicate(timeout=300)
    assert run.returncode != 0
    assert output.count("error: ") == 1 and "has a run already" in output
    assert "RuntimeError" not in output
