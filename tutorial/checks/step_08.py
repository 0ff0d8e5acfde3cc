import torch
from torch import nn

from tutorial.checks import expect, filled


def check_1(extra_parameters):
    for d_model in (8, 64, 512):
        given = filled(extra_parameters(d_model))
        square, norm = d_model * d_model, 2 * d_model
        expect(
            given != 4 * square + norm,
            "nn.Linear에는 가중치 말고 편향도 있다.",
        )
        expect(
            given != 4 * (square + d_model),
            "어텐션은 맞다. 그것을 감싼 SublayerConnection에는 무엇이 있는가?",
        )
        expect(
            given != 3 * (square + d_model) + norm,
            "MultiHeadedAttention의 nn.Linear는 넷이다. 출력에도 하나 쓴다.",
        )
        decoder = nn.TransformerDecoderLayer(d_model, 8, 16)
        encoder = nn.TransformerEncoderLayer(d_model, 8, 16)
        expected = size(decoder) - size(encoder)
        expect(
            given == expected,
            f"d_model이 {d_model}일 때 {given}: 아직 다르다. 더 있는 것은 "
            "어텐션 하나와 정규화 하나다.",
        )
    return f"PyTorch의 두 층도 그만큼 다르다. 512일 때 {expected:,}개다."


def size(module):
    return sum(p.numel() for p in module.parameters())


def check_2(is_causal):
    def leak(to, of):
        "The identity, but for one position that adds another; any length."

        def f(x):
            y = x.clone()
            y[:, to] = y[:, to] + x[:, of].sum(dim=1, keepdim=True)
            return y

        return f

    cases = (
        (
            lambda x: 2 * x,
            True,
            "자리마다 따로 계산하는 함수를 False라고 했다. 바꾼 자리의 출력은 "
            "달라져도 된다. 그 앞자리만 견준다.",
        ),
        (
            lambda x: x.cumsum(dim=1),
            True,
            "앞을 더해 가는 함수(cumsum)를 False라고 했다. 앞자리가 뒷자리의 "
            "출력을 바꾸는 것은 괜찮다.",
        ),
        (
            lambda x: x + x.mean(dim=1, keepdim=True),
            False,
            "모든 자리의 평균을 더하는 함수를 True라고 했다.",
        ),
        (
            leak(slice(0, 1), slice(1, 2)),
            False,
            "첫 자리가 바로 다음 자리를 훔쳐보는 함수를 True라고 했다. "
            "맨 끝만 바꾸지 말고 둘째 자리부터도 바꿔 본다.",
        ),
        (
            leak(slice(0, 1), slice(-1, None)),
            False,
            "첫 자리가 맨 끝 자리를 훔쳐보는 함수를 True라고 했다.",
        ),
        (
            leak(slice(-2, -1), slice(-1, None)),
            False,
            "끝에서 둘째 자리가 맨 끝 자리를 훔쳐보는 함수를 True라고 했다. "
            "첫 자리의 출력만 보지 않는다.",
        ),
        (
            small_decoder(masked=True),
            True,
            "마스크를 쓴 디코더를 False라고 했다. 모양이 같은 입력끼리 "
            "견주거나, 차이가 1e-5까지는 같다고 본다.",
        ),
        (
            small_decoder(masked=False),
            False,
            "마스크가 없는 디코더를 True라고 했다. 모든 성분에 같은 수를 "
            "더하면 LayerNorm이 지워 버린다. 난수로 바꿔 본다.",
        ),
    )
    for f, expected, hint in cases:
        given = filled(is_causal(f, 6, 8))
        if isinstance(given, torch.Tensor) and given.numel() == 1:
            given = given.item()
        expect(
            not isinstance(given, torch.Tensor) and given in (True, False),
            "True나 False 하나를 돌려줘야 한다.",
        )
        expect(bool(given) == expected, hint)
    return "함수 여덟 개 가운데 미래를 보는 것을 모두 가려냈다."


def small_decoder(masked):
    "A decoder as a function of x only, on a source of three tokens."
    layer = nn.TransformerDecoderLayer(
        8, 2, 16, batch_first=True, norm_first=True
    )
    layer.eval().requires_grad_(False)
    memory = torch.randn(1, 3, 8)

    def f(x):
        mask = torch.zeros(x.size(1), x.size(1), dtype=torch.bool)
        if masked:
            mask = torch.ones_like(mask).triu(1)
        return layer(x, memory, tgt_mask=mask)

    return f
