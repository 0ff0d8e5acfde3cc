import torch

from transformer import MultiHeadedAttention, PositionwiseFeedForward


def count(module):
    return sum(p.numel() for p in module.parameters())


# 1. 논문의 크기대로 512를 2048로 넓혔다가 512로 되돌린다.
torch.manual_seed(0)
ffn = PositionwiseFeedForward(512, 2048).eval()  # 드롭아웃을 끈다
attn = MultiHeadedAttention(8, 512).eval()
print(f"피드포워드 파라미터 수: {count(ffn):,}")
print(f"어텐션 파라미터 수:     {count(attn):,}", end=", ")
print(f"피드포워드가 {count(ffn) / count(attn):.2f}배")
print()

# 2. 토큰 6개를 한꺼번에 넣은 것과 하나씩 넣은 것을 견준다.
x = torch.randn(1, 6, 512)
output = ffn(x)
alone = torch.cat([ffn(x[:, i : i + 1]) for i in range(6)], dim=1)
close = (output - alone).abs().max().item() < 1e-5
print(f"입력 {tuple(x.shape)} → 출력 {tuple(output.shape)}")
print(f"한 자리씩 넣어도 같은가? 차이가 1e-5보다 작다: {close}")

changed = x.clone()
changed[:, 2] = 100 * torch.randn(512)  # 자리 2만 큰 잡음으로 바꾼다
others = [0, 1, 3, 4, 5]
moved = (ffn(changed) - output).abs()
print("자리 2를 잡음으로 바꾸면")
print(f"  자리 2의 출력이 달라지는가? {moved[:, 2].max().item() > 1}")
print(f"  나머지 다섯 자리의 출력 차이: {moved[:, others].max().item():.1e}")
moved = (attn(changed, changed, changed) - attn(x, x, x)).abs()
print(f"  어텐션이라면 나머지도 달라지는가? {moved[:, others].max() > 1e-3}")
print()

# 3. ReLU를 빼면 행렬 하나와 같다. nn.Linear는 행렬을 전치해서 둔다.
weight = ffn.w_2.weight @ ffn.w_1.weight  # (512, 512)
bias = ffn.w_2.weight @ ffn.w_1.bias + ffn.w_2.bias
for name, y in (("없으면", ffn.w_2(ffn.w_1(x))), ("있으면", output)):
    same = torch.allclose(y, x @ weight.T + bias, atol=1e-5)
    print(f"ReLU가 {name}: 행렬 하나와 같은가? {same}")
off = (ffn.w_1(x) < 0).float().mean()
print(f"ReLU가 0으로 끄는 은닉 유닛: {off:.0%}")
