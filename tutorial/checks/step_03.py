import torch
from torch.nn import functional as F

from tutorial.checks import expect, filled


def check_1(split_heads):
    expect(callable(split_heads), "함수 split_heads를 그대로 넘긴다.")
    x = torch.arange(48.0).view(2, 3, 8)  # 2 sentences, 3 tokens, d_model 8
    heads = tensor(split_heads(x, 4))
    shape = tuple(heads.shape)
    expect(
        shape != (2, 3, 4, 2),
        "마지막 차원은 잘 나누었다. 이제 헤드를 토큰 앞으로 옮긴다.",
    )
    expect(
        shape == (2, 4, 3, 2),
        f"(2, 3, 8)을 헤드 4개로 나누면 (2, 4, 3, 2)여야 하는데 {shape}이다.",
    )
    expect(
        not same(heads, x.reshape(2, 4, 3, 2)),
        "모양은 맞지만 토큰이 섞였다. 마지막 차원만 둘로 접은 뒤에 차원의 "
        "차례를 바꾼다.",
    )
    expect(
        not same(heads, x.unflatten(-1, (2, 4)).permute(0, 3, 1, 2)),
        "헤드가 값을 띄엄띄엄 가져갔다. (h, d_k) 차례로 접어야 이웃한 "
        "d_k개가 한 헤드로 간다.",
    )
    expect(
        same(heads, torch.stack(x.chunk(4, dim=-1), dim=1)),
        "값의 자리가 다르다. 첫 헤드는 토큰마다 앞의 d_k개를 갖는다.",
    )
    x = torch.arange(120.0).view(1, 10, 12)  # longer, and another h
    expect(
        same(tensor(split_heads(x, 3)), torch.stack(x.chunk(3, dim=-1), 1)),
        "(1, 10, 12)를 셋으로 나누면 값이 다르다. 크기는 x와 h에서 얻는다.",
    )
    return "헤드마다 모든 토큰의 제 몫만 갖는다."


def check_2(one_by_one):
    from transformer import MultiHeadedAttention

    expect(callable(one_by_one), "함수 one_by_one을 그대로 넘긴다.")
    torch.manual_seed(1)
    model = MultiHeadedAttention(4, 32).eval()
    for linear in model.linears:  # equal ones would hide a mix-up
        torch.nn.init.xavier_uniform_(linear.weight)
    model.forward = forbidden
    x = torch.randn(2, 5, 32)
    output = tensor(one_by_one(model, x))
    expect(
        tuple(output.shape) == (2, 5, 32),
        f"출력의 모양은 (2, 5, 32)여야 하는데 {tuple(output.shape)}이다.",
    )
    q, k, v = (
        torch.stack(linear(x).chunk(4, dim=-1), dim=1)
        for linear in list(model.linears)[:3]
    )
    last = model.linears[3]

    def glued(heads):
        return torch.cat(heads.unbind(dim=1), dim=-1)

    heads = F.scaled_dot_product_attention(q, k, v)
    expect(
        not same(output, glued(heads)),
        "헤드를 이어 붙이는 데까지 맞다. 넷째 Linear인 W^O가 남았다.",
    )
    one = F.scaled_dot_product_attention(glued(q), glued(k), glued(v))
    expect(
        not same(output, last(one)),
        "헤드 하나로 계산했다. query, key, value를 d_k개씩 잘라 따로 한다.",
    )
    unscaled = F.scaled_dot_product_attention(q, k, v, scale=32**-0.5)
    expect(
        not same(output, last(glued(unscaled))),
        "점수를 √d_model로 나누었다. 헤드 안에서는 √d_k로 나눈다.",
    )
    expect(
        same(output, last(glued(heads))),
        "값이 다르다. linears의 차례는 query, key, value, 출력이고, 헤드 i의 "
        "몫은 i * d_k부터 d_k개다.",
    )
    return "MultiHeadedAttention의 출력과 같다."


def forbidden(*inputs, **named):
    expect(False, "model을 바로 부르지 말고 model.linears로 계산한다.")


def tensor(value):
    expect(
        isinstance(filled(value), torch.Tensor),
        f"텐서를 돌려줘야 하는데, 돌려준 것은 {type(value).__name__}이다.",
    )
    return value.detach().float()


def same(a, b):
    return a.shape == b.shape and torch.allclose(a, b, atol=1e-5)
