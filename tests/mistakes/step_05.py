# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("(dots < dots[0] / 2).nonzero()[0]", "(dots < dots[0] / 2).sum()"),
        ("nonzero()[0].item()", "nonzero()[0].item() - 1"),
    ],
    2: [
        ("[[c, s], [-s, c]]", "[[c, -s], [s, c]]"),
        ("k * omega", "omega"),
    ],
}

DAMAGES = [
    (" * math.sqrt(self.d_model)", ""),
    ("torch.arange(0, d_model, 2)", "torch.arange(d_model // 2)"),
]
