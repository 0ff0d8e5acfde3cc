import torch
from torch.nn import functional as F

from tutorial.checks import expect, filled


def check_1(my_attention):
    torch.manual_seed(1)
    query, key, value = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
    output = filled(my_attention(query.clone(), key.clone(), value.clone()))
    expect(
        isinstance(output, torch.Tensor),
        f"출력 텐서 하나만 돌려줘야 하는데 {type(output).__name__}이다.",
    )
    expect(
        tuple(output.shape) == (3, 2),
        f"출력의 모양은 (3, 2)여야 하는데 {tuple(output.shape)}이다.",
    )
    unscaled = F.scaled_dot_product_attention(query, key, value, scale=1.0)
    expect(
        not torch.allclose(output, unscaled, atol=1e-5),
        "점수를 √d_k로 나누는 것을 잊었다.",
    )
    expected = F.scaled_dot_product_attention(query, key, value)
    expect(
        torch.allclose(output, expected, atol=1e-5),
        "값이 다르다. 점수를 √d_k로 나누었는지, softmax를 "
        "key 쪽(dim=-1)으로 했는지 본다.",
    )
    return "PyTorch의 결과와 같다."


def check_2(query):
    query = torch.as_tensor(query, dtype=torch.float32)
    expect(
        tuple(query.shape) == (2,),
        f"query의 모양은 (2,)여야 하는데 {tuple(query.shape)}이다.",
    )
    key, value = torch.eye(2), torch.tensor([[10.0], [20.0]])
    output = F.scaled_dot_product_attention(query[None], key, value).item()
    expect(
        abs(output - 17.5) < 0.01,
        f"이 query의 출력은 {output:.2f}이다. "
        "17.5는 10과 20을 1 : 3으로 섞은 값이다.",
    )
    return "가중치가 1 : 3이 되었다."
