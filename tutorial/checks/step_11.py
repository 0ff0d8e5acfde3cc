import torch

from tutorial.checks import expect, filled

TOKENS = (
    # Three sentences; 0 is the start here, the padding in the second set.
    (torch.tensor([[0, 5, 8, 4, 9], [0, 7, 1, 2, 2], [0, 1, 2, 2, 2]]), 2),
    (torch.tensor([[1, 2, 8, 0], [1, 7, 6, 3]]), 0),
)


def tensor(value, shape, name):
    "The value, after its type and shape have been looked at."
    expect(
        isinstance(value, torch.Tensor),
        f"{name}: 텐서여야 하는데 {type(value).__name__}이다.",
    )
    expect(
        tuple(value.shape) == shape,
        f"{name}의 모양은 {shape}여야 하는데 {tuple(value.shape)}이다.",
    )
    return value


def check_1(target_mask):
    for tgt, pad in TOKENS:
        batch, t = tgt.shape
        mask = filled(target_mask(tgt.clone(), pad))
        mask = tensor(mask, (batch, t, t), "마스크") != 0
        cells = [
            (i, q, k) for i in range(batch) for q in range(t) for k in range(t)
        ]
        seen = {cell for cell in cells if mask[cell]}
        real = {(i, q, k) for i, q, k in cells if tgt[i, k] != pad}
        past = {(i, q, k) for i, q, k in cells if k <= q}
        expect(
            seen != set(cells) - (real & past),
            "뒤집혔다. True가 '봐도 된다'이다.",
        )
        expect(
            not any(k > q for _, q, k in seen),
            "미래가 보인다. key의 번호가 query의 번호보다 크면 가린다. "
            "행이 query, 열이 key다.",
        )
        expect(
            seen <= real,
            "패딩이 보인다. 패딩의 열은 어느 행에서나 가린다.",
        )
        expect(
            all(cell in seen for cell in real if cell[1] == cell[2]),
            "자기 자신을 보지 못한다. 번호가 같을 때도 봐도 된다.",
        )
        expect(
            seen == real & past,
            "봐도 되는 곳을 가렸다. 자기와 그 앞의 진짜 토큰은 다 본다. "
            "패딩의 행은 가리지 않는다.",
        )
    return "자리의 번호만으로 미래를 가렸다."


def check_2(make_batch):
    for sources, targets in (
        ([[5, 6], [7, 3, 4, 9], [8]], [[6, 5, 4], [3], [9, 8]]),
        ([[4]], [[7, 7]]),
    ):
        one_batch(make_batch, sources, targets)
    return "문장의 목록이 문제와 정답이 되었다."


def one_batch(make_batch, sources, targets):
    n, s = len(sources), max(map(len, sources))
    t = max(map(len, targets)) + 1
    given = [list(ids) for ids in sources], [list(ids) for ids in targets]
    batch = filled(make_batch(*given))
    for name in ("src", "tgt", "tgt_y", "src_mask", "tgt_mask", "ntokens"):
        expect(
            getattr(batch, name, None) is not None,
            f"돌려준 것에 {name}가 없다. Batch(src, tgt, pad=2)를 돌려준다.",
        )
    src = batch.src
    expect(
        isinstance(src, torch.Tensor) and src.dim() == 2,
        "src는 (문장 수, 길이) 텐서여야 한다.",
    )
    expect(
        src.size(1) <= s,
        f"src가 {src.size(1)}칸이다. 원문에는 시작과 끝을 붙이지 않고 "
        f"가장 긴 {s}칸에 맞춘다.",
    )
    tensor(src, (n, s), "src")
    rows = [ids + [2] * (s - len(ids)) for ids in sources]
    expect(
        src.tolist() == rows,
        f"src가 {rows}여야 하는데 {src.tolist()}이다. 뒤를 2로 채운다.",
    )
    tgt, tgt_y = batch.tgt, batch.tgt_y
    tensor(tgt_y, tuple(tgt.shape), "tgt_y")
    expect(
        (tgt[:, 0] == 0).all().item(),
        "번역문이 시작 토큰 0으로 시작하지 않는다.",
    )
    ends = (tgt_y == 1).sum(dim=1).tolist()
    expect(
        ends == [1] * n,
        f"문장마다 끝 토큰 1을 한 번씩 맞혀야 하는데 {ends}번씩이다.",
    )
    whole = [[0, *ids, 1] + [2] * t for ids in targets]
    for name, found, first in (("tgt", tgt, 0), ("tgt_y", tgt_y, 1)):
        tensor(found, (n, t), name)
        rows = [row[first : first + t] for row in whole]
        expect(
            found.tolist() == rows,
            f"{name}가 {rows}여야 하는데 {found.tolist()}이다. "
            "시작과 끝을 먼저 붙이고 뒤를 2로 채운다.",
        )
    src_mask = tensor(batch.src_mask, (n, 1, s), "src_mask") != 0
    tgt_mask = tensor(batch.tgt_mask, (n, t, t), "tgt_mask") != 0
    past = torch.ones(t, t, dtype=torch.bool).tril()
    expect(
        torch.equal(src_mask, (src != 2)[:, None])
        and torch.equal(tgt_mask, (tgt != 2)[:, None] & past),
        "마스크가 다르다. 패딩의 번호 2를 Batch에 알려 주었는지 본다.",
    )
    count = sum(len(ids) + 1 for ids in targets)
    expect(
        int(batch.ntokens) == count,
        f"ntokens가 {count}여야 하는데 {int(batch.ntokens)}이다.",
    )
