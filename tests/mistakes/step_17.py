# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("(max(lengths) - 1)", "max(lengths)"),
        ("2 * slots * vocab", "slots * vocab"),
    ],
    2: [
        ("    if length <= longest:\n        return grads\n", ""),
        ("(longest / length)", "(longest / grad.norm())"),
    ],
    3: [
        ('f"{seed} {epoch}"', "seed + epoch"),
        ('random.Random(f"{seed} {epoch}")', "random"),
    ],
}

DAMAGES = [
    ("load_optimizer(folder, model, adam)", "None"),
    ("self.a_2 * math.sqrt((n - 1) / n)", "self.a_2"),
]
