import torch

from transformer import (
    MultiHeadedAttention,
    clones,
    make_model,
    subsequent_mask,
    tie_embeddings,
)


def count(module):
    return sum(p.numel() for p in module.parameters())


# 1. 어휘 11개, 층 2개짜리 모델이다. 아직 아무것도 배우지 않았다.
torch.manual_seed(0)
model = make_model(11, 11, N=2).eval()
src, tgt = torch.randint(11, (2, 7)), torch.randint(11, (2, 5))
masks = torch.ones(2, 1, 7), subsequent_mask(5)
x = model(src, tgt, *masks)
log_probs = model.generator(x)
print(f"make_model(11, 11, N=2)의 파라미터 수: {count(model):,}")
print(f"벡터 {tuple(x.shape)} → 로그 확률 {tuple(log_probs.shape)}")
sums = log_probs.exp().sum(dim=-1)
print(f"자리마다 확률의 합이 1인가? {torch.allclose(sums, torch.ones(2, 5))}")
print()

# 2. 복사본은 처음에 모두 같다. make_model의 초기화가 행렬을 새로 채운다.
copies = clones(MultiHeadedAttention(8, 512), 2)
layers = [layer.self_attn for layer in model.encoder.layers]
print("두 층의 어텐션이 같은가?")
for name, pair in (("초기화 전", copies), ("초기화 후", layers)):
    one, two = (attn.linears[0] for attn in pair)
    print(f"  {name} 행렬: {torch.equal(one.weight, two.weight)}")
print(f"  초기화 후 편향: {torch.equal(one.bias, two.bias)}")
for vocab in (11, 1000, 37000):
    embed, position = make_model(vocab, 11, N=1).src_embed
    length = embed(torch.arange(vocab)).norm(dim=-1).mean()
    print(f"어휘 {vocab:>6,}개: 임베딩의 길이 {length:>4.1f}", end=", ")
    print(f"위치의 길이 {position.pe.norm(dim=-1).mean():.1f}")
print()

# 3. 논문의 크기다. 세기만 할 때는 값이 없는 meta 장치로 충분하다.
with torch.device("meta"):
    base = make_model(37000, 37000)
print(f"어휘 37,000개, 층 6개의 파라미터 수: {count(base):,}")
print(f"행렬 셋을 묶으면: {count(tie_embeddings(base)):,}")
