"""Independent ways to the same numbers: PyTorch's modules, and a forward
pass written straight from the names in a saved `state_dict`."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def copy_attention(ours, theirs: nn.MultiheadAttention) -> None:
    with torch.no_grad():
        q, k, v, out = ours.linears
        weights = [q.weight, k.weight, v.weight]
        theirs.in_proj_weight.copy_(torch.cat(weights))
        theirs.in_proj_bias.copy_(torch.cat([q.bias, k.bias, v.bias]))
        theirs.out_proj.load_state_dict(out.state_dict())


def copy_layer(ours, theirs) -> None:
    """An encoder or decoder layer; LayerNorms are taken over as they are."""
    copy_attention(ours.self_attn, theirs.self_attn)
    if hasattr(ours, "src_attn"):
        copy_attention(ours.src_attn, theirs.multihead_attn)
    theirs.linear1.load_state_dict(ours.feed_forward.w_1.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.w_2.state_dict())
    for i, sublayer in enumerate(ours.sublayer, 1):
        setattr(theirs, f"norm{i}", sublayer.norm)


def pytorch_encoder(ours, d_model, h, d_ff) -> nn.TransformerEncoder:
    """PyTorch's own stack with our weights and our LayerNorms."""
    layer = nn.TransformerEncoderLayer(
        d_model, h, d_ff, batch_first=True, norm_first=True
    )
    theirs = nn.TransformerEncoder(
        layer, len(ours.layers), ours.norm, enable_nested_tensor=False
    )
    for mine, layer in zip(ours.layers, theirs.layers, strict=True):
        copy_layer(mine, layer)
    # In evaluation PyTorch takes a short cut that knows nn.LayerNorm only.
    return theirs.train().apply(no_dropout)


def pytorch_decoder(ours, d_model, h, d_ff) -> nn.TransformerDecoder:
    layer = nn.TransformerDecoderLayer(
        d_model, h, d_ff, batch_first=True, norm_first=True
    )
    theirs = nn.TransformerDecoder(layer, len(ours.layers), ours.norm)
    for mine, layer in zip(ours.layers, theirs.layers, strict=True):
        copy_layer(mine, layer)
    return theirs.train().apply(no_dropout)


def no_dropout(module: nn.Module) -> None:
    if isinstance(module, nn.Dropout):
        module.p = 0.0
    if isinstance(module, nn.MultiheadAttention):
        module.dropout = 0.0


def log_probabilities(state, h, src, tgt, src_mask, tgt_mask):
    """What a model saved under the original's names computes."""

    def linear(name, x):
        return F.linear(x, state[name + ".weight"], state[name + ".bias"])

    def norm(name, x):
        mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
        scaled = (x - mean) / (std + 1e-6)
        return scaled * state[name + ".a_2"] + state[name + ".b_2"]

    def heads(name, x):
        batch, length, width = x.shape
        return linear(name, x).view(batch, length, h, -1).transpose(1, 2)

    def attend(name, query, memory, mask):
        mixed = F.scaled_dot_product_attention(
            heads(name + ".linears.0", query),
            heads(name + ".linears.1", memory),
            heads(name + ".linears.2", memory),
            mask.unsqueeze(1),
        )
        joined = mixed.transpose(1, 2).reshape(query.shape)
        return linear(name + ".linears.3", joined)

    def feed(name, x):
        return linear(name + ".w_2", linear(name + ".w_1", x).relu())

    def embed(name, ids):
        table = state[name + ".0.lut.weight"]
        scaled = table[ids] * math.sqrt(table.size(1))
        return scaled + state[name + ".1.pe"][:, : ids.size(1)]

    def depth(stack):
        names = (n.split(".") for n in state if n.startswith(stack))
        return 1 + max(int(n[2]) for n in names if n[1] == "layers")

    x = embed("src_embed", src)
    for i in range(depth("encoder")):
        p = f"encoder.layers.{i}"
        y = norm(p + ".sublayer.0.norm", x)
        x = x + attend(p + ".self_attn", y, y, src_mask)
        x = x + feed(p + ".feed_forward", norm(p + ".sublayer.1.norm", x))
    memory = norm("encoder.norm", x)

    x = embed("tgt_embed", tgt)
    for i in range(depth("decoder")):
        p = f"decoder.layers.{i}"
        y = norm(p + ".sublayer.0.norm", x)
        x = x + attend(p + ".self_attn", y, y, tgt_mask)
        y = norm(p + ".sublayer.1.norm", x)
        x = x + attend(p + ".src_attn", y, memory, src_mask)
        x = x + feed(p + ".feed_forward", norm(p + ".sublayer.2.norm", x))
    x = norm("decoder.norm", x)
    return F.log_softmax(linear("generator.proj", x), dim=-1)
