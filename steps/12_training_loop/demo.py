import torch
from torch.nn import functional as F
from torch.optim.lr_scheduler import LambdaLR

from transformer import Batch, greedy_decode, make_model, run_epoch

ko = ["나는 빵을 먹고 물을 마셨다", "너는 물을 마셨다", "그는 잤다", "네"]
en = ["I ate bread and drank water", "you drank water", "he slept", "yes"]
ko, en = [*ko, "나는 잤다"], [*en, "I slept"]
text = " ".join(["<s> </s> <pad>", *ko, *en])
words = list(dict.fromkeys(text.split()))  # <s>는 0, </s>는 1, <pad>는 2


def ids(sentences):
    rows = [f"<s> {s} </s>{' <pad>' * 5}".split()[:8] for s in sentences]
    return torch.tensor([[words.index(w) for w in row] for row in rows])


def loss_compute(x, y, norm):
    log_p = model.generator(x).transpose(1, 2)  # (batch, 어휘, 길이)
    loss = F.nll_loss(log_p, y, ignore_index=2, reduction="sum")
    return loss.detach(), loss / norm


# 1. 다섯 문장을 한 배치에 담고, 작은 모델을 만든다.
torch.manual_seed(0)
V, src, tgt = len(words), ids(ko), ids(en)
batch = Batch(src, tgt)
model = make_model(V, V, N=1, d_model=32, d_ff=64, h=4, dropout=0.0)
print(f"번역문 {len(en)}개, 맞힐 토큰 {int(batch.ntokens)}개, 어휘 {V}개")

# 2. 이 배치만 60번 되풀이해 외우게 한다. 학습률은 그대로 둔다.
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = LambdaLR(optimizer, lambda step: 1.0)
loop, losses, state = (model, loss_compute, optimizer, scheduler), [], None
for _ in range(60):
    loss, state = run_epoch([batch], *loop, train_state=state)
    losses.append(loss)
print(f"첫 손실 {losses[0]:.2f}, 찍을 때는 {torch.tensor(V).log():.2f}")
print(f"마지막 손실이 0.1보다 작은가? {losses[-1] < 0.1}\n{state}\n")

# 3. 배운 것을 한 토큰씩 말하게 한다.
for i, row in enumerate(greedy_decode(model, src, batch.src_mask, 8, 0)):
    said = " ".join(words[t] for t in row[1:]).split(" </s>")[0]
    print(f"{ko[i]} → {said}  ({said == en[i]})")
