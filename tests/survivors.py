"""Mutants that change nothing a user could see, each with the reason."""

EITHER_ORDER = "transpose swaps two dimensions, whichever is named first"
LEAST = "the least or the most of two, whichever is named first"
GRADIENT_OF_0 = "every weight gets a gradient, whether from None or from 0"
COPIED = "Encoder and Decoder make copies of the layer that they are given"
ROWS_ONLY = "of two dimensions, -1 and 1 are the same one"
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
    "10_inference": {"line 319: '-1' -> '1'": ROWS_ONLY},
    "11_batch": {"line 347: '-1' -> '1'": ROWS_ONLY},
    "12_training_loop": {
        "line 389: 'True' -> 'False'": GRADIENT_OF_0,
        "line 389: 'set_to_none=True' -> ''": "PyTorch's default is True",
        "line 413: 'True' -> 'False'": "when a line comes, not which line",
    },
    "13_schedule": {
        "line 431: 'step, 1' -> '1, step'": LEAST,
        "line 432: 'step**-0.5, step * warmup**-1.5' -> "
        "'step * warmup**-1.5, step**-0.5'": LEAST,
    },
    "14_label_smoothing": {
        "line 468: '0' -> '1'": "0 times any number is 0",
    },
    "18_results": {
        "line 406: 'self.target, new' -> 'new, self.target'": (
            "a query does not see in which order keys stand"
        ),
    },
}
