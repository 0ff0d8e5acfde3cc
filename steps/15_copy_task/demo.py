import torch

from transformer import (
    LabelSmoothing,
    SimpleLossCompute,
    data_gen,
    greedy_decode,
    make_model,
    rate,
    run_epoch,
)

torch.set_num_threads(1)  # 모델이 작으면 스레드 하나가 더 빠르다
# 1. 배울 문장과 시험 문장을 뽑는다. 시험에는 배운 문장이 없어야 한다.
torch.manual_seed(0)
batches = list(data_gen(11, 128, 350))
seen = {tuple(row) for batch in batches for row in batch.src.tolist()}
test = next(data_gen(11, 100, 1))
known = sum(tuple(row) in seen for row in test.src.tolist())
print(f"있을 수 있는 문장 {9**9:,}개, 배울 문장 {len(seen):,}개")
print(f"시험 문장 100개 가운데 배울 문장에도 있는 것: {known}개")


# 2. 층 하나짜리 모델이다. 손실은 나중에 그림으로 보려고 적어 둔다.
def recorded(x, y, norm):
    loss, node = compute(x, y, norm)
    losses.append(float(loss / norm))
    return loss, node


def lr(s):
    return rate(s, 32, 0.4, 50) * (1 - s / 350)  # 끝에서 0이 되게 식힌다


losses = []
model = make_model(11, 11, N=1, d_model=32, d_ff=64, h=2, dropout=0.0)
compute = SimpleLossCompute(model.generator, LabelSmoothing(11, 0))
adam = torch.optim.Adam(model.parameters(), 1.0, betas=(0.9, 0.98), eps=1e-9)
warm = torch.optim.lr_scheduler.LambdaLR(adam, lr)
run_epoch(batches, model, recorded, adam, warm, mode="train+log")

# 3. 처음 보는 문장을 시작 기호 1에서부터 한 토큰씩 베껴 쓴다.
out = greedy_decode(model, test.src, test.src_mask, 10, start_symbol=1)
copied = int((out == test.src).all(dim=1).sum())
print("원문", *test.src[0].tolist(), "→ 출력", *out[0].tolist())
print(f"처음 보는 문장 100개 가운데 {copied}개를 틀리지 않고 베꼈다")
