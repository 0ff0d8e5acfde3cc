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
