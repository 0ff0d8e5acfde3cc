# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        (".transpose(1, 2)", ""),
        (
            "x.unflatten(-1, (h, d_k)).transpose(1, 2)",
            "x.view(x.size(0), h, x.size(1), d_k)",
        ),
    ],
    2: [
        ("to_output(torch.cat(heads, dim=-1))", "torch.cat(heads, dim=-1)"),
        (
            "to_query, to_key, to_value, to_output = model.linears",
            "to_key, to_value, to_query, to_output = model.linears",
        ),
    ],
}

DAMAGES = [
    (
        "x.transpose(1, 2).flatten(2)",
        "x.reshape(x.size(0), -1, self.h * self.d_k)",
    ),
    ("copy.deepcopy(module)", "module"),
]
