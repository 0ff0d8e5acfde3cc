import torch

from transformer import (
    END,
    START,
    encode,
    evaluate,
    find,
    greedy_decode,
    load_checkpoint,
    read_pairs,
    subsequent_mask,
    translate,
)

torch.set_num_threads(1)  # 모델이 작으면 스레드 하나가 더 빠르다
torch.set_grad_enabled(False)  # 이제 배우지 않는다
# 1. 저장소에 든 모델로 번역한다.
model, tokenizer, record = load_checkpoint(find("models/ko-en"))
texts = [
    "나는 어제 도서관에서 책을 읽었다.",
    "할머니께서는 지금 신문을 읽고 계세요.",
    "민수가 어제 산 책은 재미있다.",
    "나는 배가 고파서 배를 먹었다.",
]
for text, found in zip(texts, translate(model, tokenizer, texts)):
    print(f"{text} → {found}")

# 2. 문장 하나를 쓰는 동안 디코더의 피드포워드에 들어간 자리를 센다.
positions = []
hook = model.decoder.layers[0].feed_forward.register_forward_hook(
    lambda part, inputs, output: positions.append(output.size(1))
)
src = torch.tensor(encode(tokenizer, texts[:1]))
ys = greedy_decode(model, src, None, 40, START, END)
print(f"\n캐시가 있으면 {positions}, 더하면 {sum(positions)}자리")
positions.clear()
memory, again = model.encode(src, None), ys[:, :1]
while again.size(1) < ys.size(1):  # 10단계처럼 처음부터 다시 계산한다
    x = model.decode(memory, None, again, subsequent_mask(again.size(1)))
    best = model.generator(x[:, -1:]).argmax(dim=-1)
    again = torch.cat([again, best], dim=1)
print(f"다시 계산하면 {positions}, 더하면 {sum(positions)}자리")
print(f"고른 토큰이 같은가? {torch.equal(again, ys)}\n")
hook.remove()

# 3. 시험 문장, 그리고 동사와 목적어의 짝이 처음인 문장을 번역한다.
for name, least in (("test", 0.9), ("new", 0.8)):
    sources, references = zip(*read_pairs(find(f"data/ko-en/{name}.tsv")))
    _, _, right = evaluate(
        translate(model, tokenizer, sources, beam=1), references
    )
    print(f"{name} {len(sources):,}문장: {least:.0%} 넘게", end=" ")
    print(f"글자까지 맞는가? {right > least * len(sources)}")
