# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        (" / query.size(-1) ** 0.5", ""),
        ("exp.sum(dim=-1, keepdim=True)", "exp.sum(dim=0, keepdim=True)"),
    ],
    2: [
        ("math.sqrt(2) * math.log(3)", "math.log(3)"),
        ("[0.0, math.sqrt(2) * math.log(3)]", "[math.log(3), 0.0]"),
    ],
}

DAMAGES = [
    (" / math.sqrt(d_k)", ""),
    ("softmax(dim=-1)", "softmax(dim=-2)"),
]
