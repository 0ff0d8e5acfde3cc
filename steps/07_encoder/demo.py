import torch

from transformer import (
    Encoder,
    EncoderLayer,
    MultiHeadedAttention,
    PositionwiseFeedForward,
)

torch.manual_seed(0)

# 1. 어텐션과 피드포워드는 밖에서 만들어 넣는다. 그 층을 6번 베낀다.
layer = EncoderLayer(
    size=512,
    self_attn=MultiHeadedAttention(h=8, d_model=512, dropout=0.1),
    feed_forward=PositionwiseFeedForward(512, d_ff=2048, dropout=0.1),
    dropout=0.1,
)
encoder = Encoder(layer, N=6).eval()  # eval()은 드롭아웃을 끈다

count = sum(p.numel() for p in encoder.parameters())
# 두 층이 가중치를 나눠 쓴다면 같은 메모리 자리(data_ptr)가 두 번 나온다.
weights = [p for layer in encoder.layers for p in layer.parameters()]
separate = len({p.data_ptr() for p in weights}) == len(weights)
print(f"인코더 층 {len(encoder.layers)}개", end=", ")
print(f"층마다 서브층 {len(encoder.layers[0].sublayer)}개 (self-attn, FFN)")
print(f"인코더 파라미터 수: {count:,}")
print(f"층마다 별도 가중치? {separate}")
print()

# 2. 토큰 4개와 패딩 2개짜리 문장을 넣는다.
x = torch.randn(1, 6, 512)
mask = torch.tensor([[[True, True, True, True, False, False]]])
output = encoder(x, mask)
print(f"입력 {tuple(x.shape)} → 출력 {tuple(output.shape)}")
print()

# 3. 패딩 자리만 100배 큰 잡음으로 바꿔서 다시 넣는다.
noisy = x.clone()
noisy[:, 4:] = 100 * torch.randn(1, 2, 512)
difference = (encoder(noisy, mask) - output)[:, :4].abs().max().item()
print("패딩 자리 값을 마음대로 바꿔도 진짜 토큰의 출력은 그대로인가?")
print(f"  진짜 토큰 {mask.sum()}개 출력 차이: {difference:.1e}")
if difference == 0:
    print("  → 마스크 덕분에 어텐션이 패딩을 보지 않는다")
