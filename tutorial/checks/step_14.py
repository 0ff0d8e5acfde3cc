import math

import torch

from tutorial.checks import NotYet, expect, filled


def check_1(smoothed):
    for size, pad, smoothing, tokens in (
        (5, 0, 0.1, [2, 3, 4, 1, 0]),
        (7, 2, 0.3, [6, 2, 0, 1, 2, 3]),
        (4, 3, 0.0, [0, 3, 1]),
        (6, 0, 0.4, [5, 1]),
        (6, 0, 0.4, [0, 0]),
    ):
        target = torch.tensor(tokens)
        dist = filled(smoothed(target.clone(), size, pad, smoothing))
        expect(
            isinstance(dist, torch.Tensor),
            f"텐서를 돌려줘야 하는데 {type(dist).__name__}이다.",
        )
        expect(
            tuple(dist.shape) == (len(tokens), size),
            f"정답이 {len(tokens)}개, size가 {size}이면 모양은 "
            f"({len(tokens)}, {size})여야 하는데 {tuple(dist.shape)}이다.",
        )
        dist = dist.detach().double()
        kept, hidden = dist[target != pad], dist[target == pad]
        expect(
            bool((hidden == 0).all()),
            f"padding_idx가 {pad}이고 정답도 {pad}인 행은 모두 0이어야 한다. "
            "패딩은 맞힐 것이 아니다.",
        )
        expect(
            bool((kept[:, pad] == 0).all()),
            f"padding_idx가 {pad}이면 {pad}번 열은 모두 0이어야 한다. "
            "모델은 패딩이라고 말할 일이 없다.",
        )
        index = target[target != pad].unsqueeze(1)
        right = torch.full_like(index, 0).double() + 1 - smoothing
        expect(
            torch.allclose(kept.gather(1, index), right, atol=1e-5),
            f"smoothing이 {smoothing}이면 정답 칸은 "
            f"{1 - smoothing:.1f}이어야 한다.",
        )
        for total in kept.sum(dim=1).tolist():
            expect(
                abs(total - 1) < 1e-5,
                f"size가 {size}, smoothing이 {smoothing}일 때 행의 합이 "
                f"{total:.3f}이다. 정답과 패딩을 빼면 몇 개가 나눠 갖는가?",
            )
        expected = torch.full_like(kept, smoothing / (size - 2))
        expected[:, pad] = 0
        expected.scatter_(1, index, right)
        expect(
            torch.allclose(kept, expected, atol=1e-5),
            "합은 맞지만 나눈 몫이 다르다. 정답도 패딩도 아닌 토큰은 모두 "
            "같은 몫을 받는다.",
        )
    return "패딩이 몇 번이든, 몇 개든 목표 분포가 옳다."


def check_2(entropy):
    for size, smoothing in ((5, 0.1), (7, 0.3), (3, 0.4), (37000, 0.1)):
        given = number(entropy(size, smoothing))
        right, other = 1 - smoothing, smoothing / (size - 2)
        of_right = -right * math.log(right)
        expected = of_right - smoothing * math.log(other)
        case = f"size가 {size}, smoothing이 {smoothing}일 때"
        expect(
            not close(given, -expected),
            "부호가 반대다. 확률의 로그는 음수이니 앞에 빼기를 붙인다.",
        )
        expect(
            size == 3 or not close(given, of_right - other * math.log(other)),
            "나머지 토큰을 하나만 셌다. 같은 항이 size - 2개 있다.",
        )
        lump = of_right - smoothing * math.log(smoothing)
        expect(
            size == 3 or not close(given, lump),
            "의심을 한 토큰에 몰아주었다. size - 2개가 나눠 갖는다.",
        )
        expect(
            not close(given, expected / math.log(2)),
            "로그의 밑이 2다. 손실에서 쓰는 것은 자연로그다.",
        )
        expect(
            close(given, expected),
            f"{case} {given:.3f}이다. 아직 다르다. 정답의 항 하나와, 나머지 "
            "토큰 size - 2개의 항을 모두 더한다.",
        )
    try:
        given = number(entropy(5, 0.0))
    except (ValueError, ZeroDivisionError):
        given = math.nan
    expect(
        close(given, 0),
        "smoothing이 0이면 엔트로피도 0이어야 한다. 0 · log 0은 0으로 친다.",
    )
    return (
        f"어휘가 37,000개이고 스무딩이 0.1이면 {expected:.3f}이다. 교차 "
        "엔트로피는 완벽한 모델에서도 이 아래로 내려가지 않는다."
    )


def number(value):
    try:
        return float(filled(value))
    except (TypeError, ValueError, RuntimeError):
        raise NotYet("수 하나를 돌려줘야 한다.") from None


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5)
