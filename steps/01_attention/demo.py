import torch

from transformer import attention

# 1. 토큰이 셋이다. key는 저마다 다른 쪽을 보고, value는 알아보기 쉬운 수다.
key = torch.tensor([[3.0, 0.0], [0.0, 3.0], [-3.0, 0.0]])
value = torch.tensor([[10.0], [20.0], [40.0]])
query = torch.tensor([[3.0, 0.0], [0.0, 0.5], [0.0, 0.0]])
output, weights = attention(query, key, value)

print("query         어텐션 가중치            출력")
for q, w, o in zip(query, weights, output):
    row = "  ".join(f"{x:.3f}" for x in w)
    print(f"({q[0]:.1f}, {q[1]:.1f})    {row}    {o.item():.3f}")
sums = weights.sum(dim=-1)
print(f"행마다 합이 1인가? {torch.allclose(sums, torch.ones(3))}")
print()

# 2. 표준 정규 난수로 만든 query와 key의 내적은 d_k가 클수록 크게 흩어진다.
torch.manual_seed(0)
print("d_k    q·k의 표준편차    √d_k로 나눈 뒤")
for d_k in (4, 64, 512):
    query, key = torch.randn(1000, d_k), torch.randn(1000, d_k)
    scores = query @ key.T
    print(f"{d_k:<3}    {scores.std():>4.1f}", end="              ")
    print(f"{(scores / d_k**0.5).std():.1f}")
print()

# 3. 토큰 10개를 본다. query에 √512를 곱하면 attention의 나눗셈이 지워진다.
query, key, value = torch.randn(1000, 512), key[:10], torch.eye(10)
for name, factor in (("나눌 때", 1), ("나누지 않을 때", 512**0.5)):
    _, weights = attention(query * factor, key, value)
    largest = weights.max(dim=-1).values
    slope = largest * (1 - largest)  # 점수가 변할 때 가중치가 변하는 정도
    print(f"{name}: 가장 큰 가중치는 평균 {largest.mean():.2f}", end=", ")
    print(f"그 기울기는 평균 {slope.mean():.2f}")
