# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("tokens != pad", "tokens == pad"),
        (".unsqueeze(-2)", ""),
    ],
    2: [
        ("real & subsequent_mask", "real | subsequent_mask"),
        (".unsqueeze(-2)", ".unsqueeze(-1)"),
    ],
}

DAMAGES = [
    (".tril()", ".tril(1)"),
    ("torch.finfo(scores.dtype).min", 'float("-inf")'),
]
