"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017).
Numbers like (3.2.1) are its sections.  A mask is True where one may look."""

import copy
import math

import torch
from torch import nn


def attention(query, key, value, mask=None, dropout=None):
    """Average the values by how well each key fits the query (3.2.1).
    Shapes: (..., q, d_k), (..., k, d_k), (..., k, d_v), mask (..., q, k)."""
    d_k = query.size(-1)
    if key.size(-1) != d_k or key.size(-2) != value.size(-2):
        raise ValueError(
            f"query {query.shape} and key {key.shape} must have equal d_k, "
            f"key and value {value.shape} equal lengths"
        )
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)  # (..., q, k)
    if mask is not None:
        if mask.is_floating_point() and (mask < 0).any():
            raise ValueError("mask has numbers below 0: 1 is visible, 0 not")
        try:
            hidden = (mask == 0).expand_as(scores)
        except RuntimeError:
            raise ValueError(
                f"mask {mask.shape} must broadcast to scores {scores.shape}"
            ) from None
        # The smallest finite number: -inf gives NaN where all is hidden.
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)
    if dropout is not None:
        weights = dropout(weights)
    return weights @ value, weights  # (..., q, d_v), (..., q, k)


def subsequent_mask(size):
    "Let position i look at positions 0 to i only (3.2.3).  (1, size, size)"
    if size < 1:
        raise ValueError(f"size is {size}: a mask needs at least 1 position")
    return torch.ones(1, size, size, dtype=torch.bool).tril()


def clones(module, N):
    "N deep copies: equal at first, each with parameters of its own."
    if N < 1:
        raise ValueError(f"N is {N}: a stack needs at least 1 layer")
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


class MultiHeadedAttention(nn.Module):
    """h attentions side by side, each on d_model / h features (3.2.2).
    Shapes: (batch, q or k, d_model); mask (batch, 1 or q, k), all heads."""

    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        if not 1 <= h <= d_model or d_model % h != 0:
            raise ValueError(f"h is {h}: it must divide d_model, {d_model}")
        self.d_k = d_model // h
        self.h = h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.attn = None  # the last weights, to look at: (batch, h, q, k)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            if mask.dim() != 3:
                raise ValueError(f"mask {mask.shape} is not (batch, q, k)")
            mask = mask.unsqueeze(1)  # (batch, 1, 1 or q, k)
        query, key, value = [
            linear(x).unflatten(-1, (self.h, self.d_k)).transpose(1, 2)
            for linear, x in zip(self.linears, (query, key, value))
        ]  # each (batch, h, length, d_k)
        x, weights = attention(query, key, value, mask, self.dropout)
        self.attn = weights.detach()
        x = x.transpose(1, 2).flatten(2)  # (batch, q, d_model)
        return self.linears[-1](x)


class PositionwiseFeedForward(nn.Module):
    "Two linear maps and a ReLU, the same at each position (3.3)."

    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.w_2(self.dropout(self.w_1(x).relu()))


class Embeddings(nn.Module):
    "Token ids (...) to vectors (..., d_model), scaled by sqrt(d_model) (3.4)."

    def __init__(self, d_model, vocab):
        super().__init__()
        self.lut = nn.Embedding(vocab, d_model)
        self.d_model = d_model

    def forward(self, x):
        try:
            return self.lut(x) * math.sqrt(self.d_model)
        except IndexError:
            raise ValueError(
                f"ids from {x.min()} to {x.max()} are not all in the "
                f"vocabulary, 0 to {self.lut.num_embeddings - 1}"
            ) from None


class PositionalEncoding(nn.Module):
    "Add sines and cosines of the position (3.5).  x: (batch, length, d_model)"

    def __init__(self, d_model, dropout, max_len=5000):
        super().__init__()
        if d_model < 2 or d_model % 2 != 0 or max_len < 1:
            raise ValueError(
                f"d_model is {d_model}, max_len {max_len}: an even number "
                "and at least 1 are needed"
            )
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(max_len).double().unsqueeze(1)
        period = 10000 ** (torch.arange(0, d_model, 2).double() / d_model)
        angle = position / period  # (max_len, d_model / 2)
        pe = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
        self.register_buffer("pe", pe.float().unsqueeze(0))

    def forward(self, x):
        length, max_len = x.size(1), self.pe.size(1)
        if length > max_len:
            raise ValueError(f"length {length} is over max_len, {max_len}")
        if x.shape[2:] != self.pe.shape[2:]:
            raise ValueError(
                f"x {x.shape} is not (batch, length, {self.pe.size(2)})"
            )
        return self.dropout(x + self.pe[:, :length])


class LayerNorm(nn.Module):
    """Give each position mean 0 and deviation 1, then scale and shift (3.1).
    x: (..., features).  The deviation is over n - 1, unlike nn.LayerNorm's."""

    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(features))
        self.b_2 = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        std, mean = torch.std_mean(x, dim=-1, keepdim=True)  # each (..., 1)
        return self.a_2 * (x - mean) / (std + self.eps) + self.b_2


class SublayerConnection(nn.Module):
    """Pre-LN: x + dropout(sublayer(norm(x))).  x: (..., size)
    The paper has Post-LN: norm(x + dropout(sublayer(x))) (3.1, 5.4)."""

    def __init__(self, size, dropout):
        super().__init__()
        self.norm = LayerNorm(size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.norm(x)))
