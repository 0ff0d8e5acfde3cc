"""Mutants that change nothing a user could see, each with the reason."""

EITHER_ORDER = "transpose swaps two dimensions, whichever is named first"
LEAST = "the least of two numbers, whichever is named first"
COPIED = "Encoder and Decoder make copies of the layer that they are given"
SHARED = "constants and a dropout, which may be shared: nothing is learned"

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
    "09_full_model": {
        "line 271: 'src_vocab, tgt_vocab' -> 'tgt_vocab, src_vocab'": LEAST,
        "line 282: 'c(attn)' -> 'attn'": COPIED,
        "line 282: 'c(ff)' -> 'ff'": COPIED,
        "line 283: 'c(position)' -> 'position'": SHARED,
        "line 284: 'c(position)' -> 'position'": SHARED,
    },
}
