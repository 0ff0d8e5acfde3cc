"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017).
Numbers like (3.2.1) are its sections.  A mask is True where one may look."""

import math

import torch


def attention(query, key, value, mask=None):
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
    return weights @ value, weights  # (..., q, d_v), (..., q, k)


def subsequent_mask(size):
    "Let position i look at positions 0 to i only (3.2.3).  (1, size, size)"
    if size < 1:
        raise ValueError(f"size is {size}: a mask needs at least 1 position")
    return torch.ones(1, size, size, dtype=torch.bool).tril()
