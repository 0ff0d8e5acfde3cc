import torch
from torch import nn
from torch.nn import functional as F

from tutorial.checks import expect, filled


def check_1(encoder_parameters):
    for N, d_model, d_ff in ((2, 16, 40), (3, 8, 20), (6, 512, 2048)):
        result = filled(encoder_parameters(N, d_model, d_ff))
        layer = nn.TransformerEncoderLayer(d_model, 1, d_ff, device="meta")
        norm = nn.LayerNorm(d_model, device="meta")
        theirs = nn.TransformerEncoder(
            layer, N, norm=norm, enable_nested_tensor=False
        )
        expected = sum(p.numel() for p in theirs.parameters())
        question = f"N={N}, d_model={d_model}, d_ff={d_ff}일 때"
        expect(
            expected - result != 2 * d_model,
            f"{question} 2 × d_model만큼 모자란다. 마지막 norm을 빠뜨렸다.",
        )
        expect(
            expected - result != N * 4 * d_model,
            f"{question} 층마다 4 × d_model만큼 모자란다. "
            "어텐션의 편향(bias)이나 서브층의 norm을 빠뜨렸다.",
        )
        expect(
            expected - result != N * (5 * d_model + d_ff),
            f"{question} 모자란다. nn.Linear에는 편향(bias)도 있다.",
        )
        expect(
            expected - result != N * 2 * d_model,
            f"{question} 층마다 2 × d_model만큼 모자란다. "
            "norm은 서브층마다 하나씩 있다.",
        )
        expect(
            result == expected,
            f"{question} {expected:,}이어야 하는데 {result}이다. "
            "한 층에 무엇이 몇 개 있는지 종이에 적어 본다.",
        )
    return "어떤 크기로 물어도 맞는다."


def one_layer(layer, x, mask, without=""):
    "The layer by PyTorch's attention and the written-out norm."

    def norm(i, x):
        part = layer.sublayer[i].norm
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.pow(2).sum(-1, keepdim=True) / (x.size(-1) - 1)
        return part.a_2 * centred / (variance.sqrt() + part.eps) + part.b_2

    def split(linear, y):
        heads = layer.self_attn.h
        return linear(y).unflatten(-1, (heads, -1)).transpose(1, 2)

    attn, ffn = layer.self_attn, layer.feed_forward
    y = x if without == "norm" else norm(0, x)
    heads = F.scaled_dot_product_attention(
        split(attn.linears[0], y),
        split(attn.linears[1], y),
        split(attn.linears[2], y),
        None if without == "mask" else mask.unsqueeze(1),
    )
    y = attn.linears[3](heads.transpose(1, 2).flatten(2))
    x = y if without == "first x" else x + y
    y = x if without == "norm" else norm(1, x)
    y = ffn.w_2(F.relu(ffn.w_1(y)))
    return y if without == "second x" else x + y


@torch.no_grad()
def check_2(my_layer):
    import transformer

    torch.manual_seed(1)
    layer = transformer.EncoderLayer(
        16,
        transformer.MultiHeadedAttention(2, 16),
        transformer.PositionwiseFeedForward(16, 32),
        0.1,
    ).eval()
    for p in layer.parameters():
        p.normal_(std=0.5)
    x = torch.randn(1, 5, 16)
    mask = torch.tensor([[[True, True, True, False, False]]])
    output = filled(my_layer(layer, x.clone(), mask))
    expect(
        tuple(output.shape) == (1, 5, 16),
        f"출력의 모양은 x와 같은 (1, 5, 16)이어야 하는데 "
        f"{tuple(output.shape)}이다.",
    )

    def matches(without=""):
        expected = one_layer(layer, x, mask, without)
        return torch.allclose(output, expected, atol=1e-4)

    for without, hint in (
        ("mask", "self_attn에 mask를 넘기지 않았다."),
        ("norm", "두 서브층에 들어가기 전에 norm을 거쳐야 한다."),
        ("first x", "어텐션의 결과에 x를 더하는 것을 잊었다."),
        ("second x", "피드포워드의 결과에 x를 더하는 것을 잊었다."),
    ):
        expect(not matches(without), hint)
    expect(
        matches(),
        "값이 다르다. 어텐션에는 norm_1을 거친 x가 세 번 들어가고, "
        "더하는 것은 norm을 거치지 않은 x다. 피드포워드는 norm_2를 쓴다.",
    )
    return "손으로 펼친 층이 EncoderLayer의 계산과 같다."


@torch.no_grad()
def check_3(pad_to):
    import transformer

    torch.manual_seed(1)
    layer = transformer.EncoderLayer(
        512,
        transformer.MultiHeadedAttention(8, 512),
        transformer.PositionwiseFeedForward(512, 64),
        0.1,
    )
    encoder = transformer.Encoder(layer, 2).eval()
    for n, length in ((4, 6), (4, 8), (3, 8)):
        x = torch.randn(1, n, 512)
        result = filled(pad_to(x.clone(), length))
        expect(
            isinstance(result, tuple | list) and len(result) == 2,
            "늘린 x와 mask, 둘을 돌려줘야 한다.",
        )
        padded, mask = (torch.as_tensor(filled(part)) for part in result)
        expect(
            tuple(padded.shape) == (1, length, 512),
            f"토큰 {n}개를 {length}칸으로 늘리면 (1, {length}, 512)여야 "
            f"하는데 {tuple(padded.shape)}이다.",
        )
        expect(
            tuple(mask.shape) in ((1, 1, length), (1, length, length)),
            f"mask의 모양은 (1, 1, {length})이어야 하는데 "
            f"{tuple(mask.shape)}이다.",
        )
        expect(
            torch.equal(padded[:, :n], x),
            "진짜 토큰은 값 그대로 앞에 두고, 패딩을 그 뒤에 붙인다.",
        )
        seen = (mask != 0)[0, 0].tolist()
        expect(
            seen != [i >= n for i in range(length)],
            "mask가 거꾸로다. 봐도 되는 진짜 토큰이 True다.",
        )
        output = encoder(padded, mask)[:, :n]
        alone = encoder(x, torch.ones(1, 1, n, dtype=torch.bool))
        expect(
            torch.allclose(output, alone, atol=1e-5),
            f"토큰 {n}개의 출력이 패딩 {length - n}칸에 따라 달라진다. "
            f"mask는 앞의 {n}칸만 True여야 한다.",
        )
    return "패딩이 몇 칸이든 진짜 토큰의 출력은 1e-5 안에서 같다."
