"""Steps 10 to 15: decoding, batches, the training loop and what it needs."""

import copy
import io
import time
from contextlib import redirect_stdout

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from tests.snapshots import since

seeds = st.integers(0, 999)
lengths = st.lists(st.integers(1, 7), min_size=1, max_size=5)


def small_model(transformer, seed=0, vocab=11, dropout=0.1):
    torch.manual_seed(seed)
    return transformer.make_model(
        vocab, vocab, N=2, d_model=8, d_ff=16, h=2, dropout=dropout
    )


def sentences(lengths, vocab=11, pad=0):
    """Rows of random tokens (never `pad`), filled up with `pad`."""
    rows = torch.full((len(lengths), max(lengths)), pad)
    for row, length in zip(rows, lengths, strict=True):
        row[:length] = torch.randint(1, vocab, (length,))
    return rows


# greedy_decode


@since(10)
@given(seeds, lengths, st.integers(1, 6))
def test_a_batch_decodes_like_single_sentences(
    transformer, seed, lengths, max_len
):
    model = small_model(transformer, seed).eval()
    src = sentences(lengths)
    mask = (src != 0).unsqueeze(-2)
    together = transformer.greedy_decode(model, src, mask, max_len, 1)
    assert together.shape == (len(lengths), max_len)
    assert together.dtype == src.dtype and (together[:, 0] == 1).all()
    for i, length in enumerate(lengths):
        alone = src[i : i + 1, :length]
        ones = torch.ones(1, 1, length)
        output = transformer.greedy_decode(model, alone, ones, max_len, 1)
        assert torch.equal(output, together[i : i + 1])


@since(10)
def test_each_token_is_the_likeliest_after_those_before(transformer):
    model = small_model(transformer, 4).eval()
    src = sentences(15 * [5, 3])
    mask = (src != 0).unsqueeze(-2)
    ys = transformer.greedy_decode(model, src, mask, 12, 1)
    hidden = model(src, ys, mask, transformer.subsequent_mask(12))
    best = model.generator(hidden).argmax(-1)
    assert torch.equal(best[:, :-1], ys[:, 1:])


@since(10)
def test_the_encoder_runs_once(transformer):
    model, calls = small_model(transformer).eval(), []
    model.encoder.register_forward_hook(lambda *_: calls.append("encoder"))
    model.generator.register_forward_hook(lambda *_: calls.append("next"))
    src = sentences([4])
    transformer.greedy_decode(model, src, None, 7, 1)
    assert calls == ["encoder"] + 6 * ["next"]


@since(10)
def test_decoding_keeps_no_graph(transformer):
    model = small_model(transformer).eval()
    grads = []
    model.generator.register_forward_hook(
        lambda module, args, output: grads.append(output.requires_grad)
    )
    transformer.greedy_decode(model, sentences([4]), None, 3, 1)
    assert grads == [False, False]


@since(10)
def test_decoding_needs_room_for_the_start(transformer):
    model = small_model(transformer)
    with pytest.raises(ValueError, match="max_len is 0"):
        transformer.greedy_decode(model, sentences([4]), None, 0, 1)
    ids = transformer.greedy_decode(model, sentences([4]), None, 1, 7)
    assert ids.tolist() == [[7]]


@since(10)
def test_decoding_stays_where_its_source_is(transformer):
    """The device meta computes shapes only, and takes no other's tensors: as
    strict as a GPU, and everywhere there."""
    with torch.device("meta"):
        model = small_model(transformer)
        src = torch.ones(2, 3, dtype=torch.long)
    ids = transformer.greedy_decode(model, src, None, 4, 1)
    assert ids.is_meta and ids.shape == (2, 4)


# Batch


@since(11)
def test_a_batch_stays_where_its_ids_are(transformer):
    ids = torch.ones(2, 3, dtype=torch.long, device="meta")
    batch = transformer.Batch(ids, ids)
    assert all(value.is_meta for value in vars(batch).values())


@since(11)
@given(st.lists(st.integers(2, 9), min_size=1, max_size=5), st.integers(0, 2))
def test_batch(transformer, lengths, pad):
    tgt = torch.full((len(lengths), max(lengths)), pad)
    for row, length in zip(tgt, lengths, strict=True):
        row[:length] = torch.arange(3, 3 + length)
    src = tgt.flip(0)
    batch = transformer.Batch(src, tgt, pad)
    t = max(lengths) - 1
    assert torch.equal(batch.src, src)
    assert torch.equal(batch.src_mask, (src != pad)[:, None, :])
    assert batch.tgt_mask.shape == (len(lengths), t, t)
    assert int(batch.ntokens) == sum(length - 1 for length in lengths)
    for i, length in enumerate(lengths):
        goes_in = tgt[i, : length - 1]
        comes_out = tgt[i, 1:length]
        assert torch.equal(batch.tgt[i, : length - 1], goes_in)
        assert torch.equal(batch.tgt_y[i, : length - 1], comes_out)
        assert batch.tgt_y[i, length - 2] == tgt[i, length - 1], "the end"
        for q in range(t):
            for k in range(t):
                visible = k <= q and tgt[i, k] != pad
                assert batch.tgt_mask[i, q, k] == visible


@since(11)
def test_a_batch_without_target(transformer):
    batch = transformer.Batch(torch.tensor([[5, 6, 2]]))
    assert batch.src_mask.tolist() == [[[True, True, False]]]
    assert not hasattr(batch, "tgt")


@since(11)
@pytest.mark.parametrize("shape", [(3, 4), (2, 1), (4,), (2, 2, 4)])
def test_a_target_that_does_not_fit_is_named(transformer, shape):
    transformer.Batch(torch.ones(2, 5), torch.ones(2, 2))
    with pytest.raises(ValueError, match="as many rows.*at least 2") as error:
        transformer.Batch(torch.ones(2, 5), torch.ones(shape))
    assert str(list(shape)) in str(error.value)


@since(11)
@pytest.mark.parametrize("shape", [(5,), (1, 2, 5)])
def test_a_source_that_is_no_batch_is_named(transformer, shape):
    with pytest.raises(
        ValueError, match=r"src .* is not \(batch, s\)"
    ) as error:
        transformer.Batch(torch.ones(shape))
    assert str(list(shape)) in str(error.value)


# run_epoch


class Loss:
    "Cross-entropy summed, and per norm: what step 15 calls a loss_compute."

    def __init__(self, generator):
        self.generator = generator

    def __call__(self, x, y, norm):
        log_p = self.generator(x).flatten(0, 1)
        loss = F.nll_loss(log_p, y.flatten(), ignore_index=0, reduction="sum")
        return loss.detach(), loss / norm


class Recorder:
    "Counts calls in place of an optimizer and of a scheduler."

    def __init__(self):
        self.steps = 0

    def step(self):
        self.steps += 1

    def zero_grad(self, set_to_none=True):
        pass


def micro_batches(transformer, sizes):
    """One batch of sentences of all lengths, and the same cut in pieces."""
    lengths = [2 + (5 * i) % 7 for i in range(sum(sizes))]
    src = sentences(lengths)
    rows = torch.arange(len(lengths)).split(sizes)
    pieces = [transformer.Batch(src[r], src[r], pad=0) for r in rows]
    return transformer.Batch(src, src, pad=0), pieces


def gradients(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


@since(12)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), seeds)
def test_accumulated_gradient_is_that_of_the_big_batch(
    transformer, sizes, seed
):
    model = small_model(transformer, seed, dropout=0.0)
    big, pieces = micro_batches(transformer, sizes)
    found = []
    for batches in ([big], pieces):
        transformer.run_epoch(
            batches,
            model,
            Loss(model.generator),
            Recorder(),
            Recorder(),
            accum_iter=len(batches),
        )
        found.append(gradients(model))
        model.zero_grad()
    torch.testing.assert_close(*found, atol=1e-6, rtol=1e-4)


@since(12)
@given(st.integers(1, 9), st.integers(1, 4))
def test_an_epoch_drops_nothing(transformer, n, accum_iter):
    """Updates of the weights = steps of the schedule, the last one also
    when it is made of fewer batches."""
    model = small_model(transformer)
    _, batches = micro_batches(transformer, [2] * n)
    optimizer, scheduler = Recorder(), Recorder()
    _, state = transformer.run_epoch(
        batches,
        model,
        Loss(model.generator),
        optimizer,
        scheduler,
        accum_iter=accum_iter,
    )
    updates = -(-n // accum_iter)
    assert optimizer.steps == scheduler.steps == updates
    assert (state.step, state.accum_step) == (n, updates)
    assert state.samples == 2 * n
    assert state.tokens == sum(int(b.ntokens) for b in batches)


@since(12)
def test_nothing_leaks_from_one_update_into_the_next(transformer):
    """A gradient left over from elsewhere does not count either."""
    model = small_model(transformer, dropout=0.0)
    big, _ = micro_batches(transformer, [3])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)

    def run(batches):
        loss = Loss(model.generator)
        transformer.run_epoch(batches, model, loss, optimizer, Recorder())
        return gradients(model)

    once = run([big])
    assert torch.equal(run([big, big, big]), once)
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    assert torch.equal(run([big]), once)


@since(12)
def test_loss_is_per_token_over_the_epoch(transformer):
    model = small_model(transformer).eval()
    big, pieces = micro_batches(transformer, [1, 4, 2])
    results = [
        transformer.run_epoch(
            batches, model, Loss(model.generator), None, None, mode="eval"
        )
        for batches in ([big], pieces)
    ]
    hidden = model(big.src, big.tgt, big.src_mask, big.tgt_mask)
    log_p = model.generator(hidden).transpose(1, 2)
    expected = F.nll_loss(log_p, big.tgt_y, ignore_index=0).item()
    for loss, state in results:
        assert loss == pytest.approx(expected, rel=1e-5)
        assert state == transformer.TrainState()


@since(12)
def test_evaluation_changes_nothing(transformer):
    model = small_model(transformer)
    before = copy.deepcopy(model.state_dict())
    big, _ = micro_batches(transformer, [3])
    loss = Loss(model.generator)
    transformer.run_epoch([big], model, loss, None, None, mode="eval")
    assert all(p.grad is None for p in model.parameters())
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])


@since(12)
def test_no_state_is_shared_between_calls(transformer):
    model = small_model(transformer)
    big, _ = micro_batches(transformer, [3])

    def run(**state):
        return transformer.run_epoch(
            [big],
            model,
            Loss(model.generator),
            Recorder(),
            Recorder(),
            **state,
        )[1]

    first, second = run(), run()
    assert first is not second and second.step == 1
    assert run(train_state=first) is first and first.step == 2


@since(12)
def test_the_same_seed_gives_the_same_weights(transformer):
    def trained():
        model = small_model(transformer, dropout=0.3)
        big, pieces = micro_batches(transformer, [2, 3])
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(3):
            transformer.run_epoch(
                pieces, model, Loss(model.generator), optimizer, Recorder()
            )
        return torch.cat([p.flatten() for p in model.parameters()])

    assert torch.equal(trained(), trained())


@since(12)
def test_the_log_ends_with_what_is_the_same_everywhere(transformer):
    model, output = small_model(transformer), io.StringIO()
    big, pieces = micro_batches(transformer, [2, 3])
    loss = Loss(model.generator)

    def slow(*args):
        time.sleep(0.15)  # a bar is not redrawn more often
        return loss(*args)

    with redirect_stdout(output):
        transformer.run_epoch(
            pieces,
            model,
            slow,
            Recorder(),
            Recorder(),
            mode="train+log",
        )
    shown = output.getvalue().split("\r")
    assert any("loss" in s and "tokens/s" in s for s in shown[:-1])
    assert shown[-1].rstrip() == f"2 updates, {int(big.ntokens)} tokens"


@since(12)
@pytest.mark.parametrize(
    "change, message",
    [
        ({"mode": "test"}, "mode is 'test'.*train.*eval"),
        ({"accum_iter": 0}, "accum_iter is 0.*at least 1"),
        ({"data_iter": []}, "data_iter has no batch"),
    ],
)
def test_wrong_arguments_of_an_epoch(transformer, change, message):
    refuses(transformer, change, message)


@since(17)
@pytest.mark.parametrize("clip", [0.0, -1.0, float("nan")])
def test_a_gradient_has_a_length(transformer, clip):
    """One of below 0 would climb."""
    refuses(transformer, {"clip": clip}, f"clip is {clip}: .* over 0")


def refuses(transformer, change, message):
    model = small_model(transformer)
    big, _ = micro_batches(transformer, [3])
    arguments = {
        "data_iter": [big],
        "model": model,
        "loss_compute": Loss(model.generator),
        "optimizer": Recorder(),
        "scheduler": Recorder(),
    }
    with pytest.raises(ValueError, match=message):
        transformer.run_epoch(**(arguments | change))


@since(12)
def test_only_padding_teaches_nothing(transformer):
    """Not a division by zero that turns the weights into NaN."""
    model = small_model(transformer)
    nothing = transformer.Batch(
        torch.tensor([[3, 0]]), torch.tensor([[0, 0, 0]]), 0
    )
    with pytest.raises(ValueError, match="all padding"):
        transformer.run_epoch(
            [nothing], model, Loss(model.generator), Recorder(), Recorder()
        )


# rate


@since(13)
@given(
    st.integers(1, 100_000),
    st.integers(1, 1024),
    st.floats(0.1, 3),
    st.integers(1, 8000),
)
def test_rate(transformer, step, size, factor, warmup):
    if step < warmup:
        expected = factor / size**0.5 * step / warmup**1.5
    else:
        expected = factor / (size * step) ** 0.5
    found = transformer.rate(step, size, factor, warmup)
    assert found == pytest.approx(expected, rel=1e-9)


@since(13)
def test_peak_of_the_base_model(transformer):
    curve = [transformer.rate(s, 512, 1, 4000) for s in range(20_000)]
    assert max(curve) == curve[4000] == pytest.approx(6.99e-4, rel=1e-3)
    assert curve[0] == curve[1]
    longer = transformer.rate(16_000, 512, 1, 16_000)
    assert longer == pytest.approx(max(curve) / 2)


@since(13)
def test_rate_drives_a_scheduler(transformer):
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.Adam([weight], lr=1.0)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: transformer.rate(step, 512, 2, 100)
    )
    for step in range(5):
        expected = transformer.rate(step, 512, 2, 100)
        assert scheduler.get_last_lr() == [pytest.approx(expected)]
        optimizer.step()
        scheduler.step()


@since(13)
@pytest.mark.parametrize("warmup", [0, -1, float("nan")])
def test_rate_needs_a_warm_up(transformer, warmup):
    assert transformer.rate(1, 1, 1, 1) == 1
    with pytest.raises(ValueError, match=f"warmup {warmup}:.*at least 1"):
        transformer.rate(1, 512, 1, warmup)


@since(13)
@pytest.mark.parametrize("model_size", [0, -8])
def test_rate_needs_a_model(transformer, model_size):
    """A root of a number below 0 would be no real number."""
    match = f"model_size is {model_size},.*at least 1"
    with pytest.raises(ValueError, match=match):
        transformer.rate(1, model_size, 1, 10)


# LabelSmoothing


@since(14)
@given(
    st.integers(3, 9),
    st.integers(1, 6),
    st.sampled_from([0.0, 0.1, 0.4]),
    st.integers(0, 2),
    seeds,
)
def test_smoothing_by_hand(transformer, size, n, smoothing, pad, seed):
    torch.manual_seed(seed)
    x = torch.randn(n, size).log_softmax(-1).requires_grad_()
    target = torch.randint(size, (n,))
    criterion = transformer.LabelSmoothing(size, pad, smoothing)
    expected = torch.tensor(0.0)
    for row, token in zip(x, target.tolist(), strict=True):
        if token == pad:
            continue
        for k in range(size):
            if k == pad:
                continue
            p = 1 - smoothing if k == token else smoothing / (size - 2)
            if p > 0:
                expected = expected + p * (torch.tensor(p).log() - row[k])
    loss = criterion(x, target)
    torch.testing.assert_close(loss, expected, atol=1e-5, rtol=1e-4)
    if expected.requires_grad:
        (found,) = torch.autograd.grad(loss, x, retain_graph=True)
        (wanted,) = torch.autograd.grad(expected, x)
        torch.testing.assert_close(found, wanted)


@since(14)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), seeds)
def test_without_smoothing_it_is_cross_entropy(transformer, target, seed):
    """No padding, some, or nothing but padding (which counts 0)."""
    torch.manual_seed(seed)
    logits, target = torch.randn(len(target), 5), torch.tensor(target)
    criterion = transformer.LabelSmoothing(5, padding_idx=0)
    expected = F.cross_entropy(logits, target, ignore_index=0, reduction="sum")
    loss = criterion(logits.log_softmax(-1), target)
    torch.testing.assert_close(loss, expected, atol=1e-5, rtol=1e-5)


@since(14)
@given(seeds, st.sampled_from([0.05, 0.1, 0.3]))
def test_relation_to_the_smoothing_of_pytorch(transformer, seed, smoothing):
    """PyTorch spreads e over all K, we e over K - 2; and a divergence is a
    cross-entropy less the entropy of its target."""
    K, pad = 7, 0
    torch.manual_seed(seed)
    log_p = torch.randn(5, K).log_softmax(-1)
    target = torch.randint(1, K, (5,))
    ours = transformer.LabelSmoothing(K, pad, smoothing)(log_p, target)
    theirs = F.cross_entropy(
        log_p, target, label_smoothing=smoothing, reduction="sum"
    )
    right = log_p.gather(1, target[:, None]).sum()
    others = log_p[:, 1:].sum() - right
    ours_cross = -(1 - smoothing) * right - smoothing / (K - 2) * others
    theirs_cross = -(1 - smoothing) * right - smoothing / K * log_p.sum()
    dist = torch.tensor([1 - smoothing] + [smoothing / (K - 2)] * (K - 2))
    entropy = -5 * (dist * dist.log()).sum()
    torch.testing.assert_close(theirs, theirs_cross, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(
        ours, ours_cross - entropy, atol=1e-4, rtol=1e-4
    )


@since(14, 16)
def test_the_smoothed_target_can_be_looked_at(transformer):
    criterion = transformer.LabelSmoothing(5, padding_idx=0, smoothing=0.3)
    criterion(torch.zeros(2, 5), torch.tensor([3, 0]))
    share = 0.3 / 3
    expected = torch.tensor([[0, share, share, 0.7, share], 5 * [0.0]])
    torch.testing.assert_close(criterion.true_dist, expected)


@since(14)
def test_certainty_is_never_not_a_number(transformer):
    criterion = transformer.LabelSmoothing(4, padding_idx=0, smoothing=0.0)
    log_p = torch.tensor([[0.0, 1.0, 0.0, 0.0]]).log()
    assert criterion(log_p, torch.tensor([1])).item() == 0
    smooth = transformer.LabelSmoothing(4, padding_idx=0, smoothing=0.1)
    certain = torch.tensor([[0.0, 0.9, 0.05, 0.05]]).log()
    assert abs(smooth(certain, torch.tensor([1])).item()) < 1e-6


@since(14)
@pytest.mark.parametrize(
    "arguments, message",
    [
        ((2, 0, 0.1), "size is 2"),
        ((5, 0, 1.0), "smoothing is 1.0"),
        ((5, 0, -0.1), "smoothing is -0.1"),
        ((5, -1, 0.1), "padding_idx is -1.* 0 to 4"),
        ((5, 5, 0.1), "padding_idx is 5.* 0 to 4"),
    ],
)
def test_wrong_arguments_of_smoothing(transformer, arguments, message):
    transformer.LabelSmoothing(3, 2, 0.0)
    with pytest.raises(ValueError, match=message):
        transformer.LabelSmoothing(*arguments)


@since(14)
def test_another_vocabulary_is_named(transformer):
    criterion = transformer.LabelSmoothing(5, 0, 0.1)
    with pytest.raises(ValueError, match="size 5"):
        criterion(torch.zeros(2, 6), torch.tensor([1, 2]))


@since(14)
@pytest.mark.parametrize("target", [[1], [1, 2, 3], [[1, 2]], [[1], [2]], 1])
def test_a_target_for_each_row(transformer, target):
    """Fewer would be gathered, too, in silence."""
    criterion = transformer.LabelSmoothing(5, 0, 0.1)
    with pytest.raises(ValueError, match=r"target .* not \(n\)"):
        criterion(torch.zeros(2, 5), torch.tensor(target))


# data_gen and SimpleLossCompute


@since(15)
def test_data_gen(transformer):
    batches = list(transformer.data_gen(11, 6, 3))
    assert len(batches) == 3
    for batch in batches:
        assert batch.src.shape == (6, 10)
        assert (batch.src[:, 0] == 1).all()
        assert batch.src[:, 1:].min() >= 2 and batch.src.max() <= 10
        assert torch.equal(batch.src[:, :-1], batch.tgt)
        assert torch.equal(batch.src[:, 1:], batch.tgt_y)
        assert int(batch.ntokens) == 6 * 9 and batch.src_mask.all()
    assert not torch.equal(batches[0].src, batches[1].src)


@since(15)
def test_data_gen_needs_a_token(transformer):
    with pytest.raises(ValueError, match="V is 2"):
        next(transformer.data_gen(2, 1, 1))
    batch = next(transformer.data_gen(3, 1, 1))
    assert batch.src.tolist() == [[1, *9 * [2]]]


@since(15)
def test_simple_loss_compute(transformer):
    model = small_model(transformer)
    criterion = transformer.LabelSmoothing(11, 0, 0.1)
    compute = transformer.SimpleLossCompute(model.generator, criterion)
    x, y = torch.randn(2, 3, 8), torch.randint(11, (2, 3))
    total, per_norm = compute(x, y, 4)
    expected = criterion(model.generator(x).view(6, 11), y.view(6))
    torch.testing.assert_close(total, expected.detach())
    torch.testing.assert_close(per_norm, expected / 4)
    assert not total.requires_grad and per_norm.requires_grad


@since(15)
def test_a_small_model_learns_to_copy_its_first_token(transformer):
    """A short training run through all of steps 01 to 15: the loss falls."""
    torch.manual_seed(0)
    model = transformer.make_model(6, 6, N=1, d_model=16, d_ff=32, h=2)
    criterion = transformer.LabelSmoothing(6, 0, 0.0)
    compute = transformer.SimpleLossCompute(model.generator, criterion)
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: transformer.rate(step, 16, 1.0, 30)
    )
    losses = [
        transformer.run_epoch(
            transformer.data_gen(6, 32, 30),
            model,
            compute,
            optimizer,
            scheduler,
        )[0]
        for _ in range(2)
    ]
    assert losses[1] < losses[0]
