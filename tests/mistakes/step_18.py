# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("n * (n + 1) // 2 for n in lengths", "n * n for n in lengths"),
        ("sum(lengths)", "len(lengths)"),
    ],
    2: [
        ("sum(log_p) / (", "sum(log_p) * ("),
        ("max(", "min("),
    ],
    3: [
        ("tgt[1:]", "tgt"),
        ("dim=-1", "dim=0"),
    ],
}

DAMAGES = [
    (", self.length)", ")"),
    ("penalty = ((5 + length) / 6) ** length_penalty", "penalty = 1.0"),
]
