import torch

from transformer import attention, subsequent_mask

# 1. 점수가 모두 0이면 출력은 그 자리까지 본 value의 평균이다.
mask = subsequent_mask(4)[0]
query = key = torch.zeros(4, 1)
value = torch.tensor([[10.0], [20.0], [30.0], [40.0]])
output, weights = attention(query, key, value, mask)

print("subsequent_mask(4)    어텐션 가중치                 출력")
for visible, w, o in zip(mask, weights, output):
    cells = " ".join("■" if look else "□" for look in visible)
    row = "  ".join(f"{x:.3f}" for x in w)
    print(f"{cells:<18}    {row}    {o.item():.1f}")
zeros = (weights[~mask] == 0).sum().item()
print(f"가린 곳 {(~mask).sum()}곳, 가중치가 정확히 0인 곳 {zeros}곳")
print()

# 2. 뒤의 두 토큰의 key와 value를 100배 큰 잡음으로 바꾼다. query는 그대로다.
torch.manual_seed(0)
x = torch.randn(1, 6, 8)
noisy = x.clone()
noisy[:, 4:] = 100 * torch.randn(1, 2, 8)
padding = torch.tensor([[[True, True, True, True, False, False]]])
masks = {"없음": None, "미래": subsequent_mask(6), "패딩": padding}
print("마스크   자료형            뒤에 준 가중치   잡음에 변한 출력")
for name, mask in masks.items():
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        a, b = x.to(dtype), noisy.to(dtype)
        before, weights = attention(a, a, a, mask)
        after, _ = attention(a, b, b, mask)
        largest = weights[:, :4, 4:].max().item()  # 앞 넷이 뒤 둘에 준 것
        change = (after - before)[:, :4].abs().max().item()
        print(f"{name}     {dtype!s:<14}    {largest:<14.1e}  {change:.1e}")
print()

# 3. 한 곳도 볼 수 없는 행이다. 가리지 않으면 key가 가장 큰 토큰만 본다.
nothing = torch.zeros(1, 4, dtype=torch.bool)
for name, mask in (("다 볼 때", None), ("볼 곳이 없을 때", nothing)):
    output, weights = attention(torch.ones(1, 1), value, value, mask)
    row = "  ".join(f"{x:.3f}" for x in weights[0])
    print(f"{name}: 가중치 {row}, 출력 {output.item():.1f}")
