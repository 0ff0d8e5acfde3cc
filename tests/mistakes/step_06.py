# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("/ (n - 1)", "/ n"),
        ("(variance.sqrt() + eps)", "(variance + eps).sqrt()"),
    ],
    2: [
        ("(3 / 48) ** 0.5", "2 / 7"),
        ("(3 / 48) ** 0.5", "3 / 48"),
    ],
}

DAMAGES = [
    ("torch.std_mean(x, dim=-1,", "torch.std_mean(x, correction=0, dim=-1,"),
    ("return x + self.dropout(", "return self.norm(x) + self.dropout("),
]
