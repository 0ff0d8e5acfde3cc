"""Mutants that change nothing a user could see, each with the reason."""

EITHER_ORDER = "transpose swaps two dimensions, whichever is named first"

HARMLESS: dict[str, dict[str, str]] = {
    "01_attention": {"line 16: '-2, -1' -> '-1, -2'": EITHER_ORDER},
    "03_multi_head": {
        "line 72: '1, 2' -> '2, 1'": EITHER_ORDER,
        "line 77: '1, 2' -> '2, 1'": EITHER_ORDER,
    },
    "05_embeddings": {
        "line 123: 'torch.arange(max_len).double()' -> "
        "'torch.arange(max_len)'": "divided by a double, it becomes one",
    },
}
