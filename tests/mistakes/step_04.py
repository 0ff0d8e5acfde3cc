# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("d_model * d_ff + d_ff  # 가중치와 편향", "d_model * d_ff"),
        ("d_ff * d_model + d_model", "d_ff * d_model + d_ff"),
    ],
    2: [
        ("[[1.0, 1.0]]", "[[1.0, -1.0]]"),
        ("[[1.0], [-1.0]]", "[[1.0], [1.0]]"),
    ],
}

DAMAGES = [
    ("self.w_1(x).relu()", "self.w_1(x)"),
    ("self.w_1(x).relu()", "self.w_1(x).relu().cumsum(-2)"),
]
