"""Steps 03 to 06: the parts of a layer in every snapshot."""

import copy
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from tests.reference import copy_attention
from tests.snapshots import since

sizes = st.integers(1, 6)
seeds = st.integers(0, 999)


def watched(attention):
    """From step 17 on the weights are kept for those who ask only."""
    attention.need_weights = True
    return attention


def count(module):
    return sum(p.numel() for p in module.parameters())


# clones


@since(3)
def test_clones_are_equal_and_independent(transformer):
    torch.manual_seed(0)
    copies = transformer.clones(nn.Linear(3, 3), 4)
    assert isinstance(copies, nn.ModuleList) and len(copies) == 4
    assert all(torch.equal(copies[0].weight, c.weight) for c in copies)
    with torch.no_grad():
        copies[0].weight.zero_()
    assert all(c.weight.abs().sum() > 0 for c in list(copies)[1:])


@since(3)
@pytest.mark.parametrize("N", [0, -1])
def test_clones_need_at_least_one(transformer, N):
    with pytest.raises(ValueError, match=f"N is {N}.*at least 1"):
        transformer.clones(nn.Linear(2, 2), N)
    assert len(transformer.clones(nn.Linear(2, 2), 1)) == 1


# MultiHeadedAttention


@since(3)
@given(st.sampled_from([1, 2, 4]), sizes, sizes, sizes, seeds, st.booleans())
def test_heads_equal_pytorch(transformer, h, batch, q, k, seed, masked):
    torch.manual_seed(seed)
    ours = watched(transformer.MultiHeadedAttention(h, 8).eval())
    for parameter in ours.parameters():
        nn.init.normal_(parameter)
    theirs = nn.MultiheadAttention(8, h, batch_first=True).eval()
    copy_attention(ours, theirs)
    query = torch.randn(batch, q, 8)
    key, value = torch.randn(2, batch, k, 8)
    mask = torch.rand(batch, q, k) < 0.6
    mask[..., 0] = True
    hidden = ~mask.repeat_interleave(h, dim=0) if masked else None
    output = ours(query, key, value, mask if masked else None)
    expected, weights = theirs(
        query, key, value, attn_mask=hidden, average_attn_weights=False
    )
    torch.testing.assert_close(output, expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(ours.attn, weights, atol=1e-4, rtol=1e-4)


@since(3)
@pytest.mark.parametrize("h", [1, 2, 8])
def test_heads_cost_the_same_however_many(transformer, h):
    attention = transformer.MultiHeadedAttention(h, 512)
    assert count(attention) == 1_050_624
    assert attention.d_k == 512 // h


@since(3)
@pytest.mark.parametrize("h", [0, -2, 3, 16])
def test_h_must_divide_d_model(transformer, h):
    with pytest.raises(ValueError, match=f"h is {h}.*divide d_model, 8"):
        transformer.MultiHeadedAttention(h, 8)
    with pytest.raises(ValueError, match=f"h is {h}.*divide d_model, 0"):
        transformer.MultiHeadedAttention(h, 0)


@since(3)
@pytest.mark.parametrize("shape", [(4,), (4, 4), (2, 1, 4, 4)])
def test_a_mask_of_heads_has_three_dimensions(transformer, shape):
    attention = transformer.MultiHeadedAttention(2, 8)
    x = torch.randn(2, 4, 8)
    with pytest.raises(ValueError, match=r"mask .*\(batch, q, k\)"):
        attention(x, x, x, torch.ones(shape).bool())


@since(3)
def test_a_mask_for_another_length_is_refused(transformer):
    attention = transformer.MultiHeadedAttention(2, 8)
    x = torch.randn(2, 4, 8)
    with pytest.raises(ValueError, match="must broadcast"):
        attention(x, x, x, torch.ones(2, 1, 5).bool())


@since(3)
def test_dropout_is_only_for_training(transformer):
    torch.manual_seed(0)
    attention = watched(transformer.MultiHeadedAttention(2, 8, dropout=0.5))
    x = torch.randn(4, 16, 8)
    attention.eval()(x, x, x)
    clean = attention.attn
    ones = torch.ones(4, 2, 16)
    torch.testing.assert_close(clean.sum(-1), ones)
    attention.train()(x, x, x)
    kept = attention.attn > 0
    assert 0.3 < kept.float().mean() < 0.7
    torch.testing.assert_close(attention.attn[kept], 2 * clean[kept])


@since(3)
def test_a_used_module_can_still_be_copied(transformer):
    """The weights to look at must not hold on to the graph."""
    attention = watched(transformer.MultiHeadedAttention(2, 8))
    x = torch.randn(1, 3, 8)
    attention(x, x, x)
    assert not attention.attn.requires_grad
    copy.deepcopy(attention)


@since(3)
def test_heads_gradient(transformer):
    torch.manual_seed(0)
    attention = transformer.MultiHeadedAttention(2, 4).double().eval()
    x = torch.randn(1, 3, 4, dtype=torch.float64, requires_grad=True)
    mask = transformer.subsequent_mask(3)
    assert torch.autograd.gradcheck(lambda x: attention(x, x, x, mask), (x,))


# PositionwiseFeedForward


@since(4)
@given(sizes, sizes, sizes, sizes, seeds)
def test_feed_forward(transformer, batch, length, d_model, d_ff, seed):
    torch.manual_seed(seed)
    ff = transformer.PositionwiseFeedForward(d_model, d_ff).eval()
    x = torch.randn(batch, length, d_model)
    expected = nn.Sequential(ff.w_1, nn.ReLU(), ff.w_2)(x)
    torch.testing.assert_close(ff(x), expected)
    for i in range(length):
        alone = ff(x[:, i : i + 1])
        torch.testing.assert_close(ff(x)[:, i : i + 1], alone)


@since(4)
def test_feed_forward_size(transformer):
    assert count(transformer.PositionwiseFeedForward(512, 2048)) == 2_099_712


@since(4)
def test_feed_forward_dropout_is_between_the_maps(transformer):
    ff = transformer.PositionwiseFeedForward(4, 8, dropout=1.0).train()
    x = torch.randn(2, 3, 4)
    torch.testing.assert_close(ff(x), ff.w_2.bias.expand(2, 3, 4))


@since(4)
def test_feed_forward_gradient(transformer):
    torch.manual_seed(0)
    ff = transformer.PositionwiseFeedForward(3, 5).double().eval()
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(ff, (x,))


# Embeddings and PositionalEncoding


@since(5)
@given(sizes, st.integers(1, 9), seeds)
def test_embeddings(transformer, d_model, vocab, seed):
    torch.manual_seed(seed)
    embed = transformer.Embeddings(d_model, vocab)
    ids = torch.randint(vocab, (2, 5))
    expected = F.embedding(ids, embed.lut.weight) * math.sqrt(d_model)
    torch.testing.assert_close(embed(ids), expected)


def wave(position, feature, d_model):
    pair = feature // 2
    angle = position / 10000 ** (2 * pair / d_model)
    return math.cos(angle) if feature % 2 else math.sin(angle)


@since(5)
@pytest.mark.parametrize("d_model", [2, 6, 64])
def test_positions_follow_the_formula(transformer, d_model):
    pe = transformer.PositionalEncoding(d_model, 0.0).pe
    assert pe.shape == (1, 5000, d_model) and pe.dtype == torch.float32
    for position in (0, 1, 2, 77, 4999):
        expected = [wave(position, i, d_model) for i in range(d_model)]
        torch.testing.assert_close(
            pe[0, position], torch.tensor(expected), atol=1e-6, rtol=0
        )


@since(5)
@given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 99))
def test_a_dot_product_of_positions_depends_on_distance(
    transformer, first, second, distance
):
    pe = transformer.PositionalEncoding(64, 0.0, max_len=500).pe[0]
    torch.testing.assert_close(
        pe[first] @ pe[first + distance],
        pe[second] @ pe[second + distance],
        atol=1e-4,
        rtol=0,
    )


@since(5)
def test_positions_are_added_then_dropped(transformer):
    position = transformer.PositionalEncoding(8, 0.5, max_len=100)
    x = torch.randn(2, 100, 8)
    clean = position.eval()(x)
    torch.testing.assert_close(clean, x + position.pe)
    dropped = position.train()(x)
    kept = dropped != 0
    assert 0.3 < kept.float().mean() < 0.7
    torch.testing.assert_close(dropped[kept], 2 * clean[kept])


@since(5)
def test_positions_are_saved_but_not_trained(transformer):
    position = transformer.PositionalEncoding(8, 0.0)
    assert list(position.state_dict()) == ["pe"]
    assert count(position) == 0


@since(5)
@pytest.mark.parametrize("id", [-1, 7])
def test_an_id_outside_the_vocabulary_is_named(transformer, id):
    embed = transformer.Embeddings(4, 7)
    low, high = min(id, 3), max(id, 3)
    match = f"ids from {low} to {high} are not all in the vocabulary, 0 to 6"
    with pytest.raises(ValueError, match=match):
        embed(torch.tensor([[3, id]]))


@since(5)
@pytest.mark.parametrize("d_model", [7, 0, -2])
def test_positions_need_an_even_width(transformer, d_model):
    with pytest.raises(ValueError, match=f"d_model is {d_model}.* even"):
        transformer.PositionalEncoding(d_model, 0.0)


@since(5)
def test_positions_need_room(transformer):
    assert transformer.PositionalEncoding(2, 0.0, 1).pe.tolist() == [[[0, 1]]]
    with pytest.raises(ValueError, match="max_len 0.* at least 1"):
        transformer.PositionalEncoding(2, 0.0, 0)


@since(5)
@pytest.mark.parametrize("shape", [(2, 3, 1), (2, 3, 5), (4, 4), (1, 2, 3, 4)])
def test_positions_are_for_a_batch_of_their_width(transformer, shape):
    """Some of these shapes would broadcast, to something else."""
    position = transformer.PositionalEncoding(4, 0.0, max_len=10)
    match = r"x .* is not \(batch, length, 4\)"
    with pytest.raises(ValueError, match=match) as error:
        position(torch.zeros(shape))
    assert str(list(shape)) in str(error.value)


@since(5)
def test_a_sequence_over_max_len_is_refused(transformer):
    position = transformer.PositionalEncoding(4, 0.0, max_len=10)
    assert position(torch.zeros(1, 10, 4)).shape == (1, 10, 4)
    with pytest.raises(ValueError, match="length 11.*max_len, 10"):
        position(torch.zeros(1, 11, 4))


# LayerNorm and SublayerConnection


@since(6)
@given(st.integers(2, 9), sizes, seeds)
def test_layer_norm(transformer, features, length, seed):
    equals_the_formula(transformer, features, length, seed, 1e-6)


@since(6, 16)
@given(st.integers(2, 9), sizes, seeds)
def test_layer_norm_of_a_large_eps(transformer, features, length, seed):
    """The fast form of step 17 has eps under the root: small ones only."""
    equals_the_formula(transformer, features, length, seed, 0.1)


def equals_the_formula(transformer, features, length, seed, eps):
    torch.manual_seed(seed)
    norm = transformer.LayerNorm(features, eps)
    nn.init.normal_(norm.a_2)
    nn.init.normal_(norm.b_2)
    x = torch.randn(2, length, features)
    centred = x - x.sum(-1, keepdim=True) / features
    variance = centred.pow(2).sum(-1, keepdim=True) / (features - 1)
    expected = norm.a_2 * centred / (variance.sqrt() + eps) + norm.b_2
    torch.testing.assert_close(norm(x), expected, atol=1e-4, rtol=1e-4)


@since(6)
@pytest.mark.parametrize("n", [4, 512])
def test_layer_norm_against_pytorch(transformer, n):
    """n - 1 in the deviation: smaller by the root of (n - 1) / n."""
    torch.manual_seed(0)
    x = torch.randn(3, n, dtype=torch.float64)
    ours = transformer.LayerNorm(n, eps=0).double()
    theirs = nn.LayerNorm(n, eps=0).double()
    ratio = math.sqrt(n / (n - 1))
    torch.testing.assert_close(theirs(x), ratio * ours(x))
    assert count(ours) == 2 * n


@since(6)
def test_layer_norm_gradient(transformer):
    norm = transformer.LayerNorm(4).double()
    x = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(norm, (x,))


@since(6)
def test_layer_norm_of_equal_features(transformer):
    x = torch.full((2, 4), 3.0, requires_grad=True)
    y = transformer.LayerNorm(4)(x)
    y.sum().backward()
    assert (y == 0).all() and x.grad.isfinite().all()


@since(6)
def test_sublayer_is_pre_norm(transformer):
    torch.manual_seed(0)
    sublayer = transformer.SublayerConnection(8, 0.5).eval()
    linear = nn.Linear(8, 8)
    x = torch.randn(2, 3, 8)
    expected = x + linear(sublayer.norm(x))
    torch.testing.assert_close(sublayer(x, linear), expected)
    assert torch.equal(sublayer(x, torch.zeros_like), x)


@since(6)
def test_dropout_leaves_the_residual_road_open(transformer):
    sublayer = transformer.SublayerConnection(8, 1.0).train()
    x = torch.randn(2, 3, 8)
    assert torch.equal(sublayer(x, nn.Linear(8, 8)), x)
