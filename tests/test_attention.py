"""Steps 01 to 03: `attention` and `subsequent_mask` in every snapshot."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from tests.snapshots import load, since

TOLERANCE = {
    torch.float64: 1e-12,
    torch.float32: 1e-5,
    torch.bfloat16: 5e-2,
    torch.float16: 5e-3,
}
dtypes = st.sampled_from(list(TOLERANCE))
sizes = st.integers(1, 7)
leading = st.lists(st.integers(1, 3), max_size=2)
seeds = st.integers(0, 999)


def tensors(lead, q, k, d_k, d_v, dtype=torch.float32, seed=0):
    torch.manual_seed(seed)
    query = torch.randn(*lead, q, d_k, dtype=torch.float64)
    key = torch.randn(*lead, k, d_k, dtype=torch.float64)
    value = torch.randn(*lead, k, d_v, dtype=torch.float64)
    return query.to(dtype), key.to(dtype), value.to(dtype)


@since(1)
@given(leading, sizes, sizes, sizes, sizes, dtypes, seeds)
def test_equals_pytorch(transformer, lead, q, k, d_k, d_v, dtype, seed):
    query, key, value = tensors(lead, q, k, d_k, d_v, dtype, seed)
    output, weights = transformer.attention(query, key, value)
    expected = F.scaled_dot_product_attention(query, key, value)
    close = {"atol": TOLERANCE[dtype], "rtol": TOLERANCE[dtype]}
    torch.testing.assert_close(output, expected, **close)
    assert weights.shape == (*lead, q, k)
    ones = torch.ones(*lead, q, dtype=dtype)
    torch.testing.assert_close(weights.sum(-1), ones, **close)
    assert (weights >= 0).all()


@since(1)
def test_gradient_equals_finite_differences(transformer):
    inputs = tensors([2], 3, 4, 3, 2, torch.float64)
    inputs = [x.requires_grad_() for x in inputs]
    assert torch.autograd.gradcheck(transformer.attention, inputs)


@since(1)
def test_the_order_of_the_keys_does_not_matter(transformer):
    query, key, value = tensors([2], 3, 5, 4, 2, torch.float64)
    order = torch.tensor([4, 2, 0, 1, 3])
    output, weights = transformer.attention(query, key, value)
    other, moved = transformer.attention(query, key[:, order], value[:, order])
    torch.testing.assert_close(output, other)
    torch.testing.assert_close(weights[..., order], moved)


@since(1)
@pytest.mark.parametrize(
    "shapes", [((2, 3), (4, 5), (4, 2)), ((2, 3), (4, 3), (5, 2))]
)
def test_sizes_that_do_not_fit_are_named(transformer, shapes):
    query, key, value = map(torch.zeros, shapes)
    with pytest.raises(ValueError, match="equal d_k.*equal lengths") as error:
        transformer.attention(query, key, value)
    for shape in shapes:
        assert str(list(shape)) in str(error.value)


@since(2)
@given(leading, sizes, sizes, dtypes, seeds, st.floats(0, 1))
def test_mask(transformer, lead, q, k, dtype, seed, share):
    """Any boolean mask: PyTorch's numbers where something is visible, the
    average of the values where nothing is, and nowhere a NaN."""
    query, key, value = tensors(lead, q, k, 4, 3, dtype, seed)
    mask = torch.rand(*lead, q, k) < share
    output, weights = transformer.attention(query, key, value, mask)
    assert output.isfinite().all() and weights.isfinite().all()
    seen = mask.any(-1)
    close = {"atol": TOLERANCE[dtype], "rtol": TOLERANCE[dtype]}
    expected = F.scaled_dot_product_attention(query, key, value, mask)
    torch.testing.assert_close(output[seen], expected[seen], **close)
    average = value.mean(-2, keepdim=True).expand_as(output)
    torch.testing.assert_close(output[~seen], average[~seen], **close)
    assert (weights[mask.logical_not() & seen.unsqueeze(-1)] == 0).all()


@since(2)
@given(dtypes, seeds, st.sampled_from([1, 100, 1000]))
def test_what_is_hidden_changes_nothing(transformer, dtype, seed, size):
    query, key, value = tensors([2], 4, 6, 4, 3, dtype, seed)
    mask = torch.tensor([1, 1, 0, 1, 0, 0]).bool()
    output, _ = transformer.attention(query, key, value, mask)
    key[:, ~mask] = size * torch.randn_like(key[:, ~mask])
    value[:, ~mask] = size * torch.randn_like(value[:, ~mask])
    other, _ = transformer.attention(query, key, value, mask)
    assert torch.equal(output, other)


@since(2)
def test_strong_scores_do_not_reach_through_the_mask(transformer):
    query = torch.tensor([[100.0]])
    key, value = torch.tensor([[-300.0], [300.0]]), torch.eye(2)
    mask = torch.tensor([True, False])
    _, weights = transformer.attention(query, key, value, mask)
    assert weights.tolist() == [[1.0, 0.0]]


@since(2)
@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.float32])
def test_zeros_and_ones_are_a_mask_too(transformer, dtype):
    query, key, value = tensors([2], 4, 4, 4, 3)
    mask = transformer.subsequent_mask(4)
    expected, _ = transformer.attention(query, key, value, mask)
    output, _ = transformer.attention(query, key, value, mask.to(dtype))
    assert torch.equal(output, expected)


@since(2)
def test_a_mask_that_is_added_is_no_mask_here(transformer):
    """In nn.Transformer's masks 0 is visible and -inf hidden: read as ours,
    they would show the future and hide the past."""
    query, key, value = tensors([], 4, 4, 4, 3)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(4)
    with pytest.raises(ValueError, match="mask has numbers below 0"):
        transformer.attention(query, key, value, mask)


@since(2)
@pytest.mark.parametrize("shape", [(3, 4), (5, 3), (2, 1, 3, 4), (3,)])
def test_a_mask_of_another_shape_is_named(transformer, shape):
    query, key, value = tensors([5], 3, 5, 4, 2)
    with pytest.raises(ValueError, match="mask .*must broadcast") as error:
        transformer.attention(query, key, value, torch.ones(shape).bool())
    assert str(list(shape)) in str(error.value)
    assert "[5, 3, 5]" in str(error.value)


@since(2)
@given(st.integers(1, 40))
def test_subsequent_mask(transformer, size):
    mask = transformer.subsequent_mask(size)
    assert mask.shape == (1, size, size) and mask.dtype == torch.bool
    i, j = torch.meshgrid(
        torch.arange(size), torch.arange(size), indexing="ij"
    )
    assert torch.equal(mask[0], j <= i)


@since(2)
@pytest.mark.parametrize("size", [0, -3])
def test_subsequent_mask_needs_a_position(transformer, size):
    with pytest.raises(ValueError, match=f"size is {size}.*at least 1"):
        transformer.subsequent_mask(size)


@since(3)
def test_dropout_acts_on_the_weights(transformer):
    query, key, value = tensors([2], 3, 5, 4, 2)
    output, weights = transformer.attention(query, key, value)
    halved, half = transformer.attention(
        query, key, value, dropout=lambda weights: weights / 2
    )
    torch.testing.assert_close(half, weights / 2)
    torch.testing.assert_close(halved, output / 2)


def test_the_forms_of_steps_01_02_and_03_agree():
    inputs = tensors([2], 3, 5, 4, 2)
    first, _ = load(1).attention(*inputs)
    for number in (2, 3):
        other, _ = load(number).attention(*inputs)
        assert torch.equal(first, other)
