WRONG_ANSWERS = {
    1: [
        ("size - 2", "size - 1"),
        (" * (target != padding_idx).unsqueeze(1)", ""),
    ],
    2: [
        ("smoothing * math.log(other)", "other * math.log(other)"),
        (" / (size - 2)", ""),
    ],
}

DAMAGES = [
    ("dist[target == self.padding_idx] = 0", "pass"),
    ("x = x.masked_fill(dist == 0, 0)", "pass"),
]
