import torch
from torch import nn

from tutorial.checks import expect, filled


def check_1(reverse_gen):
    batches = list(filled(reverse_gen(7, 5, 3)))
    expect(
        len(batches) == 3,
        f"배치가 3개여야 하는데 {len(batches)}개다. nbatches번 yield한다.",
    )
    for batch in batches:
        expect(
            hasattr(batch, "tgt_y"),
            "yield하는 것은 Batch여야 한다. 원문과 번역문을 모두 넣는다.",
        )
        check_reversed(batch)
    expect(
        not torch.equal(batches[0].src, batches[1].src),
        "배치마다 문장이 똑같다. 반복문 안에서 새로 뽑는다.",
    )
    return "둘 다 1로 시작하고, 글자 아홉만 거꾸로다."


def check_reversed(batch):
    shapes = tuple(batch.src.shape), tuple(batch.tgt.shape)
    expect(
        shapes == ((5, 10), (5, 9)),
        f"src와 tgt가 (5, 10)과 (5, 9)여야 하는데 {shapes}다. "
        "시작 기호와 글자 아홉이면 10이고, Batch가 한 칸을 민다.",
    )
    src, start = batch.src, batch.tgt[:, 0]
    expect(
        bool((src[:, 0] == 1).all()),
        "원문이 시작 기호 1로 시작하지 않는다.",
    )
    expect(
        bool((start == 1).all()),
        "번역문이 시작 기호 1로 시작하지 않는다. 1은 앞에 두고 그 뒤의 "
        "글자만 뒤집는다.",
    )
    letters = src[:, 1:]
    expect(
        bool((letters >= 2).all() and (letters < 7).all()),
        "글자는 2부터 V - 1까지다.",
    )
    expect(
        not torch.equal(batch.tgt_y, letters),
        "번역문이 원문과 같다. 글자의 순서를 뒤집는다.",
    )
    expect(
        torch.equal(batch.tgt_y, letters.flip(1)),
        "맞힐 것이 원문의 글자를 거꾸로 놓은 것이 아니다.",
    )
    expect(
        torch.equal(batch.tgt[:, 1:], batch.tgt_y[:, :-1]),
        "디코더에 넣는 것과 맞힐 것이 한 칸 밀린 사이가 아니다.",
    )
    expect(
        bool(batch.src_mask.all()) and int(batch.ntokens) == 45,
        "글자 2를 패딩으로 알고 가렸다. Batch에 pad=0을 건네야 한다.",
    )


class Copier(nn.Module):
    """Copies the source, but says 2 where the source has a 3.
    Begun with anything but 1, it says 2 all the time."""

    def encode(self, src, src_mask):
        return src

    def decode(self, memory, src_mask, tgt, tgt_mask):
        t, last = tgt.size(1), memory.size(1) - 1
        expect(
            t <= last,
            "원문보다 길게 썼다. max_len은 시작 기호까지 센 원문의 길이다.",
        )
        said = memory[:, 1 : t + 1]
        wrong = (said == 3) | (tgt[:, :1] != 1)
        return said.masked_fill(wrong, 2)

    def generator(self, x):
        return nn.functional.one_hot(x, 11).float().log()

    def forward(self, src, tgt, src_mask, tgt_mask):
        expect(
            False,
            "정답을 디코더에 넣었다. greedy_decode로 스스로 쓰게 해야 한다.",
        )


def check_2(exact_copies):
    for n, length in ((40, 10), (25, 6)):
        src = torch.randint(
            2, 11, (n, length), generator=torch.Generator().manual_seed(n)
        )
        src[:, 0] = 1
        src[0, 1:], src[1, 1:] = 5, 4
        src[2, -1] = 3
        right = src != 3
        given = filled(exact_copies(Copier(), src))
        if torch.is_tensor(given) and given.numel() == 1:
            given = given.item()
        expect(
            isinstance(given, int | float),
            f"문장의 수를 돌려줘야 하는데 {type(given).__name__}이다.",
        )
        expected = int(right.all(dim=1).sum())
        expect(
            given not in (int(right.sum()), int(right[:, 1:].sum())),
            "맞힌 토큰의 수다. 한 문장이 모두 맞아야 하나로 센다.",
        )
        expect(
            given != 0,
            "하나도 베끼지 못했다. 배울 때와 같은 기호 1에서 시작하고, "
            "원문의 길이까지 쓴다.",
        )
        expect(
            abs(given - expected) < 1e-6,
            f"{n}개 가운데 {expected}개를 베끼는 모델인데 {given}개라고 했다. "
            "마지막 토큰까지 견주는지 본다.",
        )
    return "시험 문장이 몇 개든, 길이가 얼마든 셀 수 있다."
