# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("torch.cat([src[:, :1], src[:, 1:].flip(1)], dim=1)", "src.flip(1)"),
        (", pad=0", ""),
    ],
    2: [
        ("start_symbol=1", "start_symbol=0"),
        (".all(dim=1).sum()", ".sum()"),
    ],
}

# One only: each is a whole training run of 20 s.
DAMAGES = [
    ("data[:, 0] = 1", "data[:, 0] = 2"),
]
