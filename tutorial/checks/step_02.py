import torch

from tutorial.checks import expect, filled

TOKENS = (
    # Three sentences of five; 0 is a word here, as 2 is in the second set.
    (torch.tensor([[5, 0, 8, 4, 9], [7, 6, 3, 2, 2], [1, 2, 2, 2, 2]]), 2),
    (torch.tensor([[5, 2, 8, 0, 0], [7, 6, 3, 2, 1], [1, 2, 4, 3, 0]]), 0),
)


def visible(mask, shape, hint):
    """The mask as booleans, after its type and shape have been looked at."""
    expect(
        isinstance(mask, torch.Tensor),
        f"마스크는 텐서여야 하는데 {type(mask).__name__}이다.",
    )
    expect(
        tuple(mask.shape) == shape,
        f"마스크의 모양은 {shape}여야 하는데 {tuple(mask.shape)}이다. {hint}",
    )
    return mask != 0


def check_1(padding_mask):
    for tokens, pad in TOKENS:
        mask = visible(
            filled(padding_mask(tokens.clone(), pad)),
            (3, 1, 5),
            "가운데 1은 unsqueeze로 끼워 넣는다.",
        )
        real = (tokens != pad)[:, None, :]
        expect(
            not torch.equal(mask, ~real),
            "뒤집혔다. True나 1이 '봐도 된다'이다.",
        )
        for sentence, seen, right in zip(tokens, mask, real, strict=True):
            expect(
                torch.equal(seen, right),
                f"토큰 {sentence.tolist()}, pad {pad}일 때 볼 수 있는 곳은 "
                f"{right[0].tolist()}여야 하는데 {seen[0].tolist()}이다.",
            )
    return "패딩만 가리고 진짜 토큰은 다 본다."


def check_2(target_mask):
    for tokens, pad in TOKENS:
        mask = visible(
            filled(target_mask(tokens.clone(), pad)),
            (3, 5, 5),
            "(3, 1, 5)인 마스크와 (1, 5, 5)인 마스크를 합치면 된다.",
        )
        real = (tokens != pad)[:, None, :].expand(3, 5, 5)
        rows = tokens != pad
        past = torch.ones(5, 5, dtype=torch.bool).tril().expand(3, 5, 5)
        expect(
            not (mask & ~past).any(),
            "아직 미래가 보인다. 두 조건이 모두 맞는 곳만 True여야 한다.",
        )
        expect(
            not (mask & ~real).any(),
            "아직 패딩이 보인다. 패딩의 열은 어느 행에서나 가린다.",
        )
        expect(
            mask.diagonal(dim1=1, dim2=2)[rows].all(),
            "진짜 토큰이 자기 자신을 보지 못한다. 자기까지는 봐도 된다.",
        )
        expect(
            torch.equal(mask[rows], (real & past)[rows]),
            "봐도 되는 곳을 가렸다. 자기와 그 앞의 진짜 토큰은 다 본다.",
        )
        expect(
            torch.equal(mask, real & past),
            "패딩의 행을 너무 많이 가렸다. 패딩은 열만 가린다.",
        )
    return "미래와 패딩을 함께 가렸다."
