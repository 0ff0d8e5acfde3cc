# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        ("x[:, -1]", "x[:, 0]"),
        ("subsequent_mask(prefix.size(1))", "None"),
    ],
    2: [
        ("    model.decoder = short.decoder\n", ""),
        ("N=4, d_model=64, d_ff=128", "N=4, d_model=64"),
    ],
}

DAMAGES = [
    ("if p.dim() > 1", "if p.dim() > 9"),
    (
        "target.weight = model.generator.proj.weight = source.weight",
        "target.weight = source.weight",
    ),
]
