"""Steps 07 to 09: stacks and the whole model in every snapshot."""

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tests.reference import (
    log_probabilities,
    pytorch_decoder,
    pytorch_encoder,
)
from tests.snapshots import since

sizes = st.integers(1, 6)
seeds = st.integers(0, 999)
BASE = {"N": 6, "d_model": 512, "h": 8, "d_ff": 2048}


def count(module):
    return sum(p.numel() for p in module.parameters())


def new_encoder(transformer, N=2, d_model=8, h=2, d_ff=16):
    layer = transformer.EncoderLayer(
        d_model,
        transformer.MultiHeadedAttention(h, d_model),
        transformer.PositionwiseFeedForward(d_model, d_ff),
        0.1,
    )
    return transformer.Encoder(layer, N)


def new_decoder(transformer, N=2, d_model=8, h=2, d_ff=16):
    layer = transformer.DecoderLayer(
        d_model,
        transformer.MultiHeadedAttention(h, d_model),
        transformer.MultiHeadedAttention(h, d_model),
        transformer.PositionwiseFeedForward(d_model, d_ff),
        0.1,
    )
    return transformer.Decoder(layer, N)


def encoder(transformer, N=2):
    return randomised(new_encoder(transformer, N))


def decoder(transformer, N=2):
    return randomised(new_decoder(transformer, N))


def small_model(transformer, **changes):
    sizes = {"N": 2, "d_model": 8, "d_ff": 16, "h": 2} | changes
    return randomised(transformer.make_model(11, 13, **sizes))


def randomised(module):
    """Every parameter its own, so that no two could be mistaken."""
    torch.manual_seed(7)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return module.eval()


def masks(transformer, source_lengths, target_length):
    source = max(source_lengths)
    positions = torch.arange(source)
    src_mask = positions < torch.tensor(source_lengths)[:, None, None]
    return src_mask, transformer.subsequent_mask(target_length)


# Encoder


@since(7)
@given(seeds, st.lists(sizes, min_size=1, max_size=3))
def test_encoder_equals_pytorch(transformer, seed, lengths):
    ours = encoder(transformer)
    theirs = pytorch_encoder(copy.deepcopy(ours), 8, 2, 16)
    torch.manual_seed(seed)
    x = torch.randn(len(lengths), max(lengths), 8)
    mask, _ = masks(transformer, lengths, 1)
    output = ours(x, mask)
    expected = theirs(x, src_key_padding_mask=~mask.squeeze(1))
    torch.testing.assert_close(output, expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(ours(x, None), theirs(x), atol=1e-4, rtol=1e-4)


@since(7)
def test_padding_changes_nothing(transformer):
    model = encoder(transformer, N=6)
    x = torch.randn(2, 6, 8)
    mask, _ = masks(transformer, [4, 6], 1)
    before = model(x, mask)
    x[0, 4:] = 100 * torch.randn(2, 8)
    after = model(x, mask)
    assert torch.equal(before[0, :4], after[0, :4])
    assert torch.equal(before[1], after[1])


@since(7)
def test_encoder_does_not_know_the_order(transformer):
    model = encoder(transformer)
    x, order = torch.randn(1, 5, 8), torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(
        model(x, None)[:, order], model(x[:, order], None)
    )


@since(7)
def test_base_size_of_the_encoder(transformer):
    with torch.device("meta"):
        assert count(new_encoder(transformer, **BASE)) == 18_915_328


@since(8)
def test_base_size_of_the_decoder(transformer):
    with torch.device("meta"):
        assert count(new_decoder(transformer, **BASE)) == 25_225_216


@since(7)
def test_layers_have_weights_of_their_own(transformer):
    model = encoder(transformer, N=3)
    owned = [p.data_ptr() for p in model.parameters()]
    assert len(owned) == len(set(owned)) == 3 * 16 + 2


@since(7)
def test_encoder_ends_normalised(transformer):
    model = encoder(transformer, N=6)
    nn.init.ones_(model.norm.a_2)
    nn.init.zeros_(model.norm.b_2)
    output = model(torch.randn(2, 5, 8), None)
    torch.testing.assert_close(output.std(-1), torch.ones(2, 5))
    torch.testing.assert_close(
        output.mean(-1), torch.zeros(2, 5), atol=1e-5, rtol=0
    )


# Decoder


@since(8)
@given(seeds, sizes, st.lists(sizes, min_size=1, max_size=3))
def test_decoder_equals_pytorch(transformer, seed, length, lengths):
    ours = decoder(transformer)
    theirs = pytorch_decoder(copy.deepcopy(ours), 8, 2, 16)
    torch.manual_seed(seed)
    x = torch.randn(len(lengths), length, 8)
    memory = torch.randn(len(lengths), max(lengths), 8)
    src_mask, tgt_mask = masks(transformer, lengths, length)
    output = ours(x, memory, src_mask, tgt_mask)
    expected = theirs(
        x,
        memory,
        tgt_mask=~tgt_mask[0],
        memory_key_padding_mask=~src_mask.squeeze(1),
    )
    torch.testing.assert_close(output, expected, atol=1e-4, rtol=1e-4)


@since(8)
@pytest.mark.parametrize("position", range(1, 6))
def test_the_future_changes_nothing(transformer, position):
    model = decoder(transformer, N=6)
    x, memory = torch.randn(2, 6, 8), torch.randn(2, 3, 8)
    src_mask, tgt_mask = masks(transformer, [3, 2], 6)
    before = model(x, memory, src_mask, tgt_mask)
    x[:, position:] = 100 * torch.randn_like(x[:, position:])
    after = model(x, memory, src_mask, tgt_mask)
    assert torch.equal(before[:, :position], after[:, :position])
    assert not torch.allclose(before[:, position:], after[:, position:])


@since(8)
def test_the_padding_of_the_source_changes_nothing(transformer):
    model = decoder(transformer, N=6)
    x, memory = torch.randn(2, 4, 8), torch.randn(2, 5, 8)
    src_mask, tgt_mask = masks(transformer, [3, 5], 4)
    before = model(x, memory, src_mask, tgt_mask)
    memory[0, 3:] = 100 * torch.randn(2, 8)
    assert torch.equal(before, model(x, memory, src_mask, tgt_mask))
    memory[0, 0] += 1
    changed = model(x, memory, src_mask, tgt_mask)
    assert not torch.allclose(before[0], changed[0])


# The whole model


@since(9)
@given(seeds, sizes, st.lists(sizes, min_size=1, max_size=3))
def test_model_equals_the_names_in_its_weights(
    transformer, seed, length, lengths
):
    model = small_model(transformer)
    torch.manual_seed(seed)
    src = torch.randint(11, (len(lengths), max(lengths)))
    tgt = torch.randint(13, (len(lengths), length))
    src_mask, tgt_mask = masks(transformer, lengths, length)
    hidden = model(src, tgt, src_mask, tgt_mask)
    expected = log_probabilities(
        model.state_dict(), 2, src, tgt, src_mask, tgt_mask
    )
    log_p = model.generator(hidden)
    torch.testing.assert_close(log_p, expected, atol=1e-4, rtol=1e-4)
    ones = torch.ones(tgt.shape)
    torch.testing.assert_close(log_p.exp().sum(-1), ones)


def names_of_the_original(layers):
    """The `state_dict` keys of The Annotated Transformer's model."""
    linear = ("weight", "bias")

    def layer(stack, i, attentions, sublayers):
        root = f"{stack}.layers.{i}"
        for attention in attentions:
            for j in range(4):
                for name in linear:
                    yield f"{root}.{attention}.linears.{j}.{name}"
        for part in ("w_1", "w_2"):
            for name in linear:
                yield f"{root}.feed_forward.{part}.{name}"
        for j in range(sublayers):
            for name in ("a_2", "b_2"):
                yield f"{root}.sublayer.{j}.norm.{name}"

    for i in range(layers):
        yield from layer("encoder", i, ["self_attn"], 2)
        yield from layer("decoder", i, ["self_attn", "src_attn"], 3)
    for stack in ("encoder", "decoder"):
        yield from (f"{stack}.norm.a_2", f"{stack}.norm.b_2")
    for side in ("src", "tgt"):
        yield from (f"{side}_embed.0.lut.weight", f"{side}_embed.1.pe")
    yield from ("generator.proj.weight", "generator.proj.bias")


@since(9)
def test_weights_of_the_original_load(transformer):
    """Strictly by name and shape, and what they compute is what they say."""
    model = small_model(transformer)
    assert set(model.state_dict()) == set(names_of_the_original(2))
    torch.manual_seed(3)
    foreign = {
        name: torch.randn_like(tensor)
        for name, tensor in model.state_dict().items()
    }
    assert foreign["src_embed.1.pe"].shape == (1, 5000, 8)
    model.load_state_dict(foreign, strict=True)
    src, tgt = torch.randint(11, (2, 5)), torch.randint(13, (2, 4))
    src_mask, tgt_mask = masks(transformer, [5, 3], 4)
    log_p = model.generator(model(src, tgt, src_mask, tgt_mask))
    expected = log_probabilities(foreign, 2, src, tgt, src_mask, tgt_mask)
    torch.testing.assert_close(log_p, expected, atol=1e-3, rtol=1e-3)


@since(9)
def test_encode_then_decode_is_forward(transformer):
    model = small_model(transformer)
    src, tgt = torch.randint(11, (2, 5)), torch.randint(13, (2, 4))
    src_mask, tgt_mask = masks(transformer, [5, 3], 4)
    memory = model.encode(src, src_mask)
    assert torch.equal(
        model.decode(memory, src_mask, tgt, tgt_mask),
        model(src, tgt, src_mask, tgt_mask),
    )


@since(9)
def test_sizes_of_models(transformer):
    with torch.device("meta"):
        assert count(transformer.make_model(11, 11, N=2)) == 14_731_787
        shared = transformer.make_model(37_000, 37_000)
        untied = count(shared)
        assert count(transformer.tie_embeddings(shared)) == 63_121_544
        assert untied - 63_121_544 == 2 * 37_000 * 512


@since(9)
@pytest.mark.parametrize("name", ["src_vocab", "tgt_vocab", "d_ff"])
def test_a_size_of_nothing_is_named(transformer, name):
    sizes = {"src_vocab": 1, "tgt_vocab": 1, "d_ff": 1}
    sizes |= {"N": 1, "d_model": 2, "h": 1}
    transformer.make_model(**sizes)
    with pytest.raises(ValueError, match=f"{name}[is ]* 0.* at least 1"):
        transformer.make_model(**(sizes | {name: 0}))


@since(9)
def test_matrices_start_as_xavier_and_differ(transformer):
    torch.manual_seed(0)
    model = transformer.make_model(11, 13, N=2, d_model=32, d_ff=64, h=4)
    matrices = [p for p in model.parameters() if p.dim() > 1]
    for p in matrices:
        bound = (6 / (p.size(0) + p.size(1))) ** 0.5
        assert p.abs().max() <= bound
        assert p.abs().max() > 0.9 * bound
    for i, p in enumerate(matrices):
        for q in matrices[:i]:
            assert p.shape != q.shape or not torch.equal(p, q)
    owned = [p.data_ptr() for p in model.parameters()]
    assert len(owned) == len(set(owned))


@since(9)
def test_dropout_reaches_every_part(transformer):
    model = transformer.make_model(11, 11, N=1, d_model=8, h=2, dropout=0.3)
    rates = [m.p for m in model.modules() if isinstance(m, nn.Dropout)]
    encoder_layer, decoder_layer, embeddings = 4, 6, 2
    assert len(rates) == encoder_layer + decoder_layer + embeddings
    assert set(rates) == {0.3}


@since(9)
def test_tied_embeddings_are_one_and_train(transformer):
    torch.manual_seed(0)
    model = transformer.make_model(11, 11, N=1, d_model=16, d_ff=32, h=2)
    assert transformer.tie_embeddings(model) is model
    matrix = model.src_embed[0].lut.weight
    assert matrix is model.tgt_embed[0].lut.weight
    assert matrix is model.generator.proj.weight
    model.load_state_dict(model.state_dict(), strict=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    src, tgt = torch.randint(11, (4, 5)), torch.randint(11, (4, 6))
    losses = []
    for _ in range(60):
        hidden = model(src, tgt[:, :-1], None, transformer.subsequent_mask(5))
        log_p = model.generator(hidden)
        loss = nn.functional.nll_loss(
            log_p.flatten(0, 1), tgt[:, 1:].flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    assert matrix is model.generator.proj.weight


@since(9)
def test_two_vocabularies_cannot_be_tied(transformer):
    model = transformer.make_model(11, 13, N=1, d_model=8, h=2)
    with pytest.raises(ValueError, match="11 and 13 tokens"):
        transformer.tie_embeddings(model)
