# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("math.ceil(n / k)", "n // k"),
        ("math.ceil(n / k)", "n // k + 1"),
    ],
    2: [
        ("    optimizer.zero_grad()\n", ""),
        ("batch.tgt_y, ntokens)", "batch.tgt_y, batch.ntokens)"),
    ],
}

DAMAGES = [
    ("optimizer.zero_grad(set_to_none=True)", "None"),
    ("batch.tgt_y, ntokens)", "batch.tgt_y, batch.ntokens)"),
]
