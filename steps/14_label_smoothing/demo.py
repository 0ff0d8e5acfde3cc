import math

import torch

from transformer import LabelSmoothing

# 1. 어휘는 다섯 토큰이고 0번이 패딩이다. 정답은 "I eat rice"와 끝, 패딩이다.
words = ["<pad>", "</s>", "I", "eat", "rice"]
target = torch.tensor([2, 3, 4, 1, 0])
uniform = torch.full((5, 5), 1 / 5).log()  # 다섯 토큰에 고르게 준 모델
criterion = LabelSmoothing(size=5, padding_idx=0, smoothing=0.1)
criterion(uniform, target)
print("정답     " + "".join(f"{word:>7}" for word in words) + "     합")
for token, row in zip(target, criterion.true_dist):
    cells = "".join(f"{x:>7.3f}" for x in row)
    print(f"{words[token]:<9}{cells}{row.sum():>7.3f}")
print()


# 2. 모델이 정답에 p, 다른 세 토큰에 나머지를 고르게, 패딩에는 0을 준다.
def loss_at(p, smoothing):
    rest = (1 - p) / 3
    log_p = torch.tensor([[0.0, rest, p, rest, rest]]).log()  # log 0은 -inf
    loss = LabelSmoothing(5, 0, smoothing)(log_p, torch.tensor([2]))
    return loss.clamp(min=0).item()  # 반올림으로 생기는 -0.000을 지운다


print("정답의 p    점수 차이    손실(스무딩 0)    손실(스무딩 0.1)")
for p in (0.5, 0.7, 0.9, 0.99, 0.999, 0.999999):
    gap = math.log(p / ((1 - p) / 3))  # softmax가 p를 내려면 필요한 차이
    print(f"{p:<8}    {gap:>6.1f}       {loss_at(p, 0.0):>7.3f}", end="")
    print(f"           {loss_at(p, 0.1):>7.3f}")
grid = [k / 100 for k in range(1, 100)]
best = min(grid, key=lambda p: loss_at(p, 0.1))
finite = all(math.isfinite(loss_at(p, 0.1)) for p in (*grid, 0.999999))
print(f"0.01부터 0.99까지 훑으면 손실이 가장 작은 p는 {best:.2f}")
print(f"패딩의 로그 확률이 -inf인데 손실은 모두 유한한가? {finite}")
print()

# 3. 패딩은 손실에 끼지 않는다. 손실은 평균이 아니라 합이다.
for name, tokens in (("없음", [2, 3]), ("하나", [2, 0]), ("둘 다", [0, 0])):
    loss = criterion(uniform[:2], torch.tensor(tokens))
    print(f"패딩 {name}: 손실의 합 {loss:.3f}, 유한한가? {loss.isfinite()}")
