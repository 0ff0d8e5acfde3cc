import math

import torch

from tutorial.checks import expect, filled


def pair_of_numbers(value):
    expect(
        isinstance(value, tuple | list) and len(value) == 2,
        "(다시 계산할 때, 캐시가 있을 때) 두 수의 짝을 돌려줘야 한다.",
    )
    numbers = [n.item() if torch.is_tensor(n) else n for n in value]
    expect(
        all(isinstance(n, int | float) for n in numbers),
        "짝의 두 값은 수여야 한다.",
    )
    return numbers


def check_1(positions):
    for lengths in ([10], [10, 4], [1, 1, 1], [3, 12, 7, 7], []):
        again = sum(n * (n + 1) // 2 for n in lengths)
        once, longest = sum(lengths), max(lengths, default=0)
        given = pair_of_numbers(filled(positions(list(lengths))))
        expect(
            given != [once, again] or once == again,
            "두 수의 순서가 바뀌었다. 다시 계산할 때가 먼저다.",
        )
        expect(
            given[1] == once,
            f"토큰을 {lengths}개씩 쓸 때 캐시가 있으면 {once}자리인데 "
            f"{given[1]}자리라고 했다. 토큰 하나에 새 자리 하나다.",
        )
        hint = f"토큰을 {lengths}개씩 쓸 때 다시 계산하면 {again}자리인데 "
        hint += f"{given[0]}자리라고 했다. "
        if given[0] == sum(n * (n - 1) // 2 for n in lengths):
            hint += "토큰 n개를 쓰려면 n번 돈다. 끝 토큰을 고를 때도 돈다."
        elif given[0] == sum(n * n for n in lengths):
            hint += "첫 토큰을 쓸 때는 한 자리만 넣는다."
        elif given[0] == once * (once + 1) // 2:
            hint += "길이를 먼저 더하지 말고 문장마다 따로 센다."
        elif given[0] == len(lengths) * longest * (longest + 1) // 2:
            hint += "가장 긴 문장까지가 아니라 문장마다 제 끝에서 멈춘다."
        else:
            hint += "1 + 2 + … + n을 문장마다 구해 더한다."
        expect(given[0] == again, hint)
    return "문장이 길수록 다시 계산하는 쪽이 훨씬 빨리 늘어난다."


def check_2(best):
    # Sentences as the log-probabilities of their tokens.
    short, long = [math.log(0.5)] * 4, [math.log(0.64)] * 7
    tasks = [
        ([short, long], 0, "벌점이 0이면 로그 확률의 합이 높은 것이다."),
        (
            [short, long],
            0.6,
            "벌점이 0.6이면 긴 문장이 이긴다. 합을 ((5 + n) / 6) ** 0.6으로 "
            "나누었는지 본다.",
        ),
        (
            [[-2.0], [-1.0, -1.05], [-0.1, -2.0]],
            0.6,
            "로그 확률은 0보다 작으니, 점수가 높은 것은 0에 가까운 것이다.",
        ),
        (
            # Not so by the mean over its tokens.
            [[-0.5] * 2, [-0.4] * 4],
            0.6,
            "토큰마다의 평균이 아니라 식의 점수로 고른다.",
        ),
        (
            [[-0.6] * 2, [-0.42] * 4],
            0.6,
            "n은 토큰 수이고, 5를 더해 6으로 나눈다.",
        ),
        # Near ties, which one token more or less would turn.
        ([[-1.0], [-0.59] * 2], 1, "n은 끝 토큰까지 센 토큰 수다."),
        ([[-1.0], [-0.575] * 2], 1, "n은 끝 토큰까지 센 토큰 수다."),
        ([[-3.0, -1.0]], 1, "문장이 하나면 0번이다."),
        ([short, long, short], 2.0, "문장이 셋이어도 골라야 한다."),
    ]
    for hypotheses, penalty, hint in tasks:
        scores = [sum(p) / ((5 + len(p)) / 6) ** penalty for p in hypotheses]
        given = filled(best([list(p) for p in hypotheses], penalty))
        if torch.is_tensor(given) and given.numel() == 1:
            given = given.item()
        expect(
            isinstance(given, int) and not isinstance(given, bool),
            f"고른 문장의 번호를 돌려줘야 하는데 {type(given).__name__}이다.",
        )
        expect(given == scores.index(max(scores)), hint)
    return "빔 서치가 다 쓴 문장 가운데 하나를 고르는 법이다."


def check_3(looked_at):
    torch.manual_seed(1)
    for layers, h, src, tgt in (
        (1, 1, ["<s>", "▁잤다", "</s>"], ["<s>", "▁I", "▁slept", "</s>"]),
        (
            2,
            4,
            ["<s>", "▁나는", "▁빵을", "▁먹었다", ".", "</s>"],
            ["<s>", "▁I", "▁ate", "▁bread", ".", "</s>"],
        ),
        (3, 2, list("가나다라마바사"), list("abcd")),
    ):
        size = layers, h, len(tgt) - 1, len(src)
        weights = (3 * torch.randn(size)).softmax(dim=-1)
        given = filled(looked_at(weights.clone(), list(src), list(tgt)))
        expect(
            isinstance(given, list | tuple),
            f"짝의 목록을 돌려줘야 하는데 {type(given).__name__}이다.",
        )
        expect(
            len(given) == len(tgt) - 1,
            f"번역문이 시작 토큰까지 {len(tgt)}토큰이면 쓴 토큰은 "
            f"{len(tgt) - 1}개인데, 짝이 {len(given)}개다.",
        )
        expect(
            all(isinstance(p, tuple | list) and len(p) == 2 for p in given),
            "(쓴 토큰, 원문의 토큰)의 짝이어야 한다.",
        )
        written, looked = ([pair[i] for pair in given] for i in (0, 1))
        expect(
            written != tgt[:-1],
            "읽은 토큰을 적었다. 행은 그 자리에서 쓴 토큰, 곧 한 칸 뒤의 "
            "토큰이다.",
        )
        expect(
            written == tgt[1:],
            f"짝의 앞은 쓴 토큰 {tgt[1:]}이어야 하는데 {written}이다.",
        )
        expect(
            all(token in src for token in looked),
            "짝의 뒤는 원문의 토큰이어야 한다.",
        )
        mean = weights.flatten(0, 1).mean(dim=0)
        expect(
            looked == [src[i] for i in mean.argmax(dim=-1).tolist()],
            "가장 많이 본 토큰이 다르다. 층과 헤드를 모두 평균한 다음, "
            "행마다 가중치가 가장 큰 열을 찾는다.",
        )
    return "층과 헤드가 몇 개든 짝을 찾는다."
