import torch

from transformer import (
    Decoder,
    DecoderLayer,
    EncoderLayer,
    MultiHeadedAttention,
    PositionwiseFeedForward,
    subsequent_mask,
)

# 1. 어텐션이 둘이다. 쓴 것을 보는 self_attn과 원문을 보는 src_attn.
torch.manual_seed(0)
self_attn, src_attn = (MultiHeadedAttention(8, 512) for _ in range(2))
ffn = PositionwiseFeedForward(512, 2048)
encoder_layer = EncoderLayer(512, self_attn, ffn, dropout=0.1)
layer = DecoderLayer(512, self_attn, src_attn, ffn, dropout=0.1)
decoder = Decoder(layer, 6).eval().requires_grad_(False)  # 보기만 한다
print(f"인코더는 층마다 서브층 {len(encoder_layer.sublayer)}개")
print(f"디코더는 층마다 서브층 {len(layer.sublayer)}개", end=", ")
count = sum(p.numel() for p in decoder.parameters())
print(f"층 {len(decoder.layers)}개의 파라미터 수: {count:,}\n")

# 2. 한 곳만 바꾸고 출력을 견준다. memory는 인코더의 출력 대신 쓰는 난수다.
#    원문: 나는 / 사과를 / 먹었다 / . / 패딩 / 패딩
x, memory = torch.randn(1, 5, 512), torch.randn(1, 6, 512)
src_mask = torch.tensor([[[True, True, True, True, False, False]]])
tgt_mask = subsequent_mask(5)
output = decoder(x, memory, src_mask, tgt_mask)
print(f"번역문 {tuple(x.shape)}, 원문 {tuple(memory.shape)}", end=" → ")
print(f"출력 {tuple(output.shape)}")
future, padding, verb = x.clone(), memory.clone(), memory.clone()
future[:, 3:], padding[:, 4:] = 100 * torch.randn(2, 1, 2, 512)
verb[:, 2] = torch.randn(1, 512)
a = (decoder(future, memory, src_mask, tgt_mask) - output).abs()
b = (decoder(x, padding, src_mask, tgt_mask) - output).abs()
c = (decoder(x, verb, src_mask, tgt_mask) - output).abs()
print(f"번역문 뒤 2자리를 바꾸면, 앞 3자리의 출력 차이: {a[:, :3].max():.1e}")
print(f"원문의 패딩 2자리를 바꾸면, 모든 출력 차이: {b.max():.1e}")
print(f"원문의 '먹었다'를 바꾸면, 출력이 달라지는가? {c.max().item() > 0}\n")

# 3. 추론할 때는 문장의 앞부분밖에 없다. 그래도 그 자리들의 출력은 같다.
print("번역문의 앞 k자리만 넣어도 그 자리의 출력은 같은가? (차이 < 1e-5)")
for k in range(1, 6):
    prefix = decoder(x[:, :k], memory, src_mask, subsequent_mask(k))
    gap = (prefix - output[:, :k]).abs().max().item()
    print(f"  k = {k}: {gap < 1e-5}")
