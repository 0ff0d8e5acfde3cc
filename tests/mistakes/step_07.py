# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("N * layer + norm", "N * layer"),
        ("4 * (d_model * d_model + d_model)", "4 * d_model * d_model"),
    ],
    2: [
        ("self_attn(y, y, y, mask)", "self_attn(x, x, x, mask)"),
        ("x = x + layer.self_attn", "x = layer.self_attn"),
    ],
    3: [
        ("torch.arange(length) < n", "torch.arange(length) >= n"),
        ("[x, padding]", "[padding, x]"),
    ],
}

DAMAGES = [
    ("self.self_attn(x, x, x, mask)", "self.self_attn(x, x, x)"),
    ("return self.norm(x)", "return x"),
]
