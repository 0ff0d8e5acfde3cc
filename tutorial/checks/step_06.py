import math

import torch
from torch.nn import functional as F

from tutorial.checks import expect, filled


def check_1(my_layer_norm):
    torch.manual_seed(1)
    x = 3 * torch.randn(2, 3, 4) + 1
    a, b = torch.rand(4) + 1, torch.rand(4) + 1
    eps = 0.5  # large, so that its place shows
    output = filled(my_layer_norm(x.clone(), a.clone(), b.clone(), eps))
    expect(
        isinstance(output, torch.Tensor),
        f"텐서를 돌려줘야 하는데 {type(output).__name__}이다.",
    )
    expect(
        tuple(output.shape) == (2, 3, 4),
        f"출력의 모양은 x와 같은 (2, 3, 4)여야 하는데 "
        f"{tuple(output.shape)}이다. 합을 낼 때 keepdim=True를 쓴다.",
    )
    centred = F.layer_norm(x, (4,), eps=0.0)  # deviation 1 over n
    centred = centred * (x.std(dim=-1, correction=0, keepdim=True))
    variance = centred.square().sum(dim=-1, keepdim=True) / 3

    def close(divisor, a=a, b=b, centred=centred):
        return torch.allclose(output, a * centred / divisor + b, atol=1e-4)

    std = variance.sqrt()
    smaller = (variance * 3 / 4).sqrt()
    expect(not close(smaller + eps), "n으로 나누었다. n-1로 나눈다.")
    expect(
        not close((variance * 3 / 4 + eps).sqrt()),
        "nn.LayerNorm의 식이다. n-1로 나누고 eps는 표준편차에 더한다.",
    )
    expect(
        not close((variance + eps).sqrt()),
        "eps가 루트 안에 있다. 제곱근을 먼저 구하고 거기에 eps를 더한다.",
    )
    expect(not close(std), "표준편차에 eps를 더하는 것을 잊었다.")
    expect(
        not close(variance + eps),
        "분산으로 나누었다. 제곱근을 구해 표준편차로 나눈다.",
    )
    expect(
        not close(std + eps, a=1) and not close(std + eps, a=1, b=0),
        "a를 곱하는 것을 잊었다.",
    )
    expect(not close(std + eps, b=0), "b를 더하는 것을 잊었다.")
    expect(
        not close(std + eps, centred=x),
        "평균을 빼는 것을 잊었다.",
    )
    expect(
        close(std + eps),
        "값이 다르다. 평균과 표준편차를 토큰마다, 마지막 차원(dim=-1)으로 "
        "구했는지 살펴본다.",
    )
    return "이 단계의 LayerNorm과 같은 값이다."


def check_2(c):
    try:
        c = float(c)
    except (TypeError, ValueError, RuntimeError):
        expect(False, "c는 수 하나여야 한다.")
    deviation = math.hypot(1, math.sqrt(48) * c)
    expect(
        abs(deviation - 2) < 0.01,
        f"이 c면 표준편차는 {deviation:.2f}이다. 서로 독립인 것을 더하면 "
        "표준편차가 아니라 분산이 더해진다.",
    )
    return "서브층 48개를 지나도 표준편차가 2다."
