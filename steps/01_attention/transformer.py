"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017).
Numbers like (3.2.1) are its sections."""

import math


def attention(query, key, value):
    """Average the values by how well each key fits the query (3.2.1).
    Shapes: (..., q, d_k), (..., k, d_k), (..., k, d_v)."""
    d_k = query.size(-1)
    if key.size(-1) != d_k or key.size(-2) != value.size(-2):
        raise ValueError(
            f"query {query.shape} and key {key.shape} must have equal d_k, "
            f"key and value {value.shape} equal lengths"
        )
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)  # (..., q, k)
    weights = scores.softmax(dim=-1)
    return weights @ value, weights  # (..., q, d_v), (..., q, k)
