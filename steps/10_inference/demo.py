import torch

from transformer import greedy_decode, make_model

# 1. 배우지 않은 작은 모델이다. 토큰 0은 패딩, 1은 시작, 2는 끝으로 쓴다.
torch.manual_seed(5)
model = make_model(11, 11, N=2, d_model=32, d_ff=64, h=4).eval()
src = torch.randint(3, 11, (3, 7))
src[1, 5:] = 0
src[2, 3:] = 0
src_mask = (src != 0).unsqueeze(1)  # (3, 1, 7)
ys = greedy_decode(model, src, src_mask, max_len=12, start_symbol=1)
print(f"원문 {tuple(src.shape)} → 쓴 것 {tuple(ys.shape)}")
for row in ys.tolist():
    print("  ", *row)
again = greedy_decode(model, src, src_mask, max_len=12, start_symbol=1)
print(f"다시 써도 같은가? {torch.equal(again, ys)}")
print()

# 2. 이번에는 패딩을 떼고 한 문장씩 쓴다.
print("한 문장씩 쓴 것이 배치로 쓴 것과 같은가?")
for i, length in enumerate((7, 5, 3)):
    one, mask = src[i : i + 1, :length], torch.ones(1, 1, length)
    alone = greedy_decode(model, one, mask, max_len=12, start_symbol=1)
    print(f"  원문 {length}토큰: {torch.equal(alone[0], ys[i])}")
print()

# 3. 인코더와 디코더가 돌 때마다 적어 둔다.
encoded, decoded, scores = [], [], []


def note(module, args, output):
    decoded.append(output.size(1))  # 이번에 계산한 자리
    scores.append(module.layers[0].self_attn.attn[0, 0].numel())


model.encoder.register_forward_hook(lambda *_: encoded.append(1))
model.decoder.register_forward_hook(note)
print("max_len  인코더  디코더  계산한 자리  self-attn 점수")
for max_len in (8, 16, 32, 64):
    for notes in (encoded, decoded, scores):
        notes.clear()
    greedy_decode(model, src, src_mask, max_len, start_symbol=1)
    print(f"{max_len:>7}  {len(encoded):>6}  {len(decoded):>6}", end="  ")
    print(f"{sum(decoded):>11,}  {sum(scores):>14,}")
