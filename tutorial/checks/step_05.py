import math

import torch

from tutorial.checks import expect, filled


def check_1(distance):
    number = torch.as_tensor(distance)
    expect(
        number.numel() == 1,
        f"거리는 수 하나여야 하는데 {number.numel()}개다.",
    )
    k = number.item()
    whole = math.isfinite(k) and k == int(k)
    expect(whole, f"거리는 정수여야 하는데 {k}이다.")
    expect(k > 0, "자리 0과 떨어진 거리이니 0보다 커야 한다.")
    half = dot(0) / 2
    expect(
        dot(k) < half,
        f"거리 {int(k)}의 내적은 {dot(k):.1f}이다. "
        f"{half:.0f}보다 작아야 한다.",
    )
    expect(
        all(dot(nearer) >= half for nearer in range(min(int(k), 1000))),
        f"더 가까운 곳에서 이미 {half:.0f} 아래로 떨어진다.",
    )
    return "그만큼 떨어지면 내적이 절반 아래다."


def dot(k):
    "Of the encodings of two positions k apart, by the closed formula."
    return sum(math.cos(k / 10000 ** (2 * i / 512)) for i in range(256))


def check_2(turn):
    expect(callable(turn), "turn은 함수여야 한다.")
    omega = torch.tensor(0.1, dtype=torch.float64)
    for k in (1, 3, 10):
        matrix = filled(turn(k, omega))
        matrix = torch.as_tensor(matrix, dtype=torch.float64)
        expect(
            tuple(matrix.shape) == (2, 2),
            f"행렬의 모양은 (2, 2)여야 하는데 {tuple(matrix.shape)}이다.",
        )
        for p in (0, 5):
            turned = matrix @ hand(p * omega)
            expect(
                not torch.allclose(turned, hand((p - k) * omega), atol=1e-4),
                "반대쪽으로 돌았다. 두 sin 앞의 부호를 본다. "
                "행렬은 벡터의 왼쪽에 곱한다.",
            )
            only_one = torch.allclose(turned, hand((p + 1) * omega), atol=1e-4)
            expect(
                k == 1 or not only_one,
                "k가 무엇이든 한 자리만 돈다. 각은 k * omega다.",
            )
            expect(
                torch.allclose(turned, hand((p + k) * omega), atol=1e-4),
                f"p = {p}, k = {k}에서 어긋난다. 첫 행은 sin, 둘째 행은 cos의 "
                "덧셈 정리다.",
            )
    return "p가 없어도 어느 자리에서나 k자리 뒤로 돈다."


def hand(angle):
    return torch.stack([angle.sin(), angle.cos()])
