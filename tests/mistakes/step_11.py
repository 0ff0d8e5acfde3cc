# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("key <= query", "key < query"),
        (
            "position.unsqueeze(1), position.unsqueeze(0)",
            "position.unsqueeze(0), position.unsqueeze(1)",
        ),
    ],
    2: [
        ("[0, *ids, 1]", "[0, *ids]"),
        (
            "pad_sequence(tgt, batch_first=True, padding_value=2)",
            "pad_sequence(tgt, batch_first=True)",
        ),
    ],
}

DAMAGES = [
    ("(self.tgt_y != pad).sum()", "(self.tgt != pad).sum()"),
    ("visible & subsequent_mask", "visible | subsequent_mask"),
]
