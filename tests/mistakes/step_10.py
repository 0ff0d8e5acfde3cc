# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("row[1:]", "row"),
        ("tokens.index(end_symbol)]", "tokens.index(end_symbol) + 1]"),
    ],
    2: [
        ("answers.unsqueeze(-1)", "inputs.unsqueeze(-1)"),
        ("chosen.sum(dim=1)", "chosen.mean(dim=1)"),
    ],
}

DAMAGES = [
    ("out[:, -1]", "out[:, 0]"),
    (
        "model.decode(memory, src_mask, ys, tgt_mask)",
        "model.decode(model.encode(src, src_mask), src_mask, ys, tgt_mask)",
    ),
]
