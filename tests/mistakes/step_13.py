# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        (" ** 0.5", ""),
        ("factor / ", "1 / "),
    ],
    2: [
        ("min(1, (n - warmup) / (total - warmup))", "n / total"),
        (
            "min(1, (n - warmup) / (total - warmup))",
            "(n - warmup) / (total - warmup)",
        ),
    ],
}

DAMAGES = [
    ("step = max(step, 1)", "step = step + 1"),
]
