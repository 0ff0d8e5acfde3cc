# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("d_model * d_model + d_model", "d_model * d_model"),
        ("return attention + norm", "return attention"),
    ],
    2: [
        ("range(1, length)", "range(length - 1, length)"),
        ("f(changed)[:, :k], before[:, :k]", "f(changed), before"),
    ],
}

DAMAGES = [
    ("self.self_attn(x, x, x, tgt_mask)", "self.self_attn(x, x, x, None)"),
    ("self.src_attn(x, m, m, src_mask)", "self.src_attn(x, m, m, None)"),
]
