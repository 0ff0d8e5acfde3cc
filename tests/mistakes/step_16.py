# Each replaces a piece of the solution, of the snapshot.  See test_lessons.py
# and test_goes_red.py.

WRONG_ANSWERS = {
    1: [
        (
            "len(group) * max(group) for group in groups",
            "max(max(g) for g in groups) * len(group) for group in groups",
        ),
        ("1 - tokens / cells", "tokens / cells"),
    ],
    2: [
        ("random.Random(0)", "random"),
        (
            "list(dict.fromkeys(src for src, _ in pairs))",
            "[src for src, _ in pairs]",
        ),
    ],
}

DAMAGES = [
    ("[*map(len, p)]", "0"),
    (", byte_fallback=True", ""),
]
