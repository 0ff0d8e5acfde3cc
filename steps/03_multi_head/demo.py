import torch

from transformer import MultiHeadedAttention, subsequent_mask

# 1. 헤드 수는 512 × 512 행렬을 어떻게 자를지만 정한다.
for h in (1, 2, 8):
    model = MultiHeadedAttention(h, d_model=512)
    count = sum(p.numel() for p in model.parameters())
    print(f"헤드 {h}개 × {model.d_k:>3}차원: 파라미터 {count:,}개")
first, *others = [linear.weight for linear in model.linears]
equal = all(torch.equal(first, other) for other in others)
print(f"막 만든 Linear 넷의 값이 모두 같은가? {equal}")
print(f"같은 텐서를 나눠 쓰는가? {any(first is other for other in others)}")
print()

# 2. 나누고 붙이기. 토큰 3개, 특징 4개, 헤드 2개인 작은 수로 먼저 해 본다.
small = torch.arange(12).view(1, 3, 4)
heads = small.unflatten(-1, (2, 2)).transpose(1, 2)
print(f"토큰 셋: {small[0].tolist()}")
print(f"헤드 1:  {heads[0, 0].tolist()}")
print(f"헤드 2:  {heads[0, 1].tolist()}")
torch.manual_seed(0)
x = torch.randn(32, 6, 512)
split = x.unflatten(-1, (8, 64))
heads = split.transpose(1, 2)
glued = heads.transpose(1, 2).flatten(2)
shapes = [str(tuple(t.shape)) for t in (x, split, heads, glued)]
print(" → ".join(shapes))
print(f"나눴다 붙이면 처음과 같은가? {torch.equal(glued, x)}")
print()

# 3. 2단계의 마스크로 앞만 본다. 첫 토큰은 자기만 보니 가중치가 1이다.
mask, seen = subsequent_mask(6), {}
for mode in ("eval", "train"):
    model.train(mode == "train")  # train(False)는 eval()과 같다
    output = model(x, x, x, mask)
    seen[mode] = weights = model.attn
    ones = torch.allclose(weights.sum(dim=-1), torch.tensor(1.0))
    print(f"{mode}(): 가장 큰 가중치 {weights.max():.3f}", end=", ")
    print(f"행의 합이 모두 1인가? {ones}")
rate = (weights[:, :, -1] == 0).float().mean()  # 여섯을 다 보는 마지막 토큰
print(f"train()에서 0이 된 가중치의 비율: {rate:.1f}")
scaled = torch.allclose(weights, seen["eval"] / 0.9 * (weights > 0))
print(f"남은 가중치는 모두 eval()의 1 / 0.9배인가? {scaled}")
print(f"출력 {tuple(output.shape)}, 가중치 {tuple(weights.shape)}")
