import torch

from transformer import Embeddings, MultiHeadedAttention, PositionalEncoding

# 1. '안 먹고 잤다'와 '먹고 안 잤다'. 단어는 같고 순서만 다르다.
torch.manual_seed(0)
attend = MultiHeadedAttention(8, 512).eval()
add_position = PositionalEncoding(512, dropout=0.0)
order = [1, 0, 2]
x = torch.randn(1, 3, 512)  # 안, 먹고, 잤다
y = x[:, order]  # 먹고, 안, 잤다


def only_order_changes(x, y):
    x, y = attend(x, x, x), attend(y, y, y)
    return torch.allclose(x[:, order], y, atol=1e-5)


print("단어의 순서를 바꾸면 출력도 순서만 바뀌는가?")
print(f"  위치가 없을 때: {only_order_changes(x, y)}")
x, y = add_position(x), add_position(y)
print(f"  위치를 더했을 때: {only_order_changes(x, y)}")
print()

# 2. 더하는 두 벡터의 길이. 토큰 1000개와 자리 5000개를 모두 잰다.
embed = Embeddings(512, vocab=1000)
ids = torch.arange(1000)
pe = add_position.pe[0].double()  # 더하는 동안 반올림이 쌓이지 않게
before, after = embed.lut(ids).norm(dim=-1), embed(ids).norm(dim=-1)
lengths = pe.norm(dim=-1)
print(f"번호 {tuple(ids.shape)} → 임베딩 {tuple(embed(ids).shape)}")
print(f"표에서 꺼낸 벡터의 길이: 평균 {before.mean():.1f}")
print(f"√512를 곱한 벡터의 길이: 평균 {after.mean():.0f}")
print(f"위치 벡터의 길이: {lengths.min():.1f}에서 {lengths.max():.1f}까지")
print()

# 3. 자리 p와 p+k의 내적. p는 사라지고 k만 남는가?
print("자리 p    k=1        k=10       k=100")
for p in (0, 7, 1000, 4000):
    dots = "    ".join(f"{pe[p] @ pe[p + k]:.3f}" for k in (1, 10, 100))
    print(f"{p:>6}    {dots}")
count = sum(p.numel() for p in add_position.parameters())
print()
print(f"학습할 파라미터: {count}개")
print(f"state_dict에 pe가 있는가? {'pe' in add_position.state_dict()}")
