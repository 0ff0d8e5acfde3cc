import copy
import math

import torch
from torch.nn import functional as F

from tutorial.checks import expect, filled


def check_1(updates):
    for n, k in ((5, 1), (6, 2), (5, 2), (3, 5), (1, 1), (100, 7)):
        answer = filled(updates(n, k))
        right = math.ceil(n / k)
        if n % k == 0:
            hint = "나누어떨어질 때는 남는 배치가 없다."
        else:
            hint = "끝에 남은 배치로도 한 번 갱신한다."
        expect(
            answer == right,
            f"배치 {n}개, k={k}일 때 {answer}번이라고 했다. {hint} "
            "스케줄은 배치가 아니라 갱신과 함께 움직인다.",
        )
    return "스케줄이 움직인 횟수와 갱신의 횟수는 같다."


def check_2(train_step):
    from transformer import Batch, make_model

    torch.manual_seed(3)
    model = make_model(9, 9, N=1, d_model=8, d_ff=16, h=2, dropout=0.0)
    tokens = torch.randint(3, 9, (4, 8))
    for row, length in zip(tokens, (8, 3, 4, 3), strict=True):
        row[length:] = 2
    batches = [Batch(rows, rows) for rows in tokens.split([1, 2, 1])]

    def loss_of(module, batch):
        x = module(batch.src, batch.tgt, batch.src_mask, batch.tgt_mask)
        log_p = module.generator(x).transpose(1, 2)
        return F.nll_loss(log_p, batch.tgt_y, ignore_index=2, reduction="sum")

    def loss_compute(x, y, norm):
        log_p = model.generator(x).transpose(1, 2)
        loss = F.nll_loss(log_p, y, ignore_index=2, reduction="sum")
        return loss.detach(), loss / norm

    def flat(tensors):
        return torch.cat([t.detach().flatten() for t in tensors])

    def gradient(loss):
        parameters = list(other.parameters())
        return flat(torch.autograd.grad(loss, parameters, retain_graph=True))

    other = copy.deepcopy(model)
    counts = [int(batch.ntokens) for batch in batches]
    losses = [loss_of(other, batch) for batch in batches]
    expected_loss = float(sum(losses).detach()) / sum(counts)
    own = [loss / n for loss, n in zip(losses, counts, strict=True)]
    by_own = gradient(sum(own))
    last = gradient(losses[-1] / sum(counts))
    right = gradient(loss_of(other, Batch(tokens, tokens)) / sum(counts))

    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    steps = []
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    before = flat(model.parameters())
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    answer = train_step(batches, model, loss_compute, optimizer)
    expect(
        answer is not None or not steps,
        "가중치는 옮겼는데 손실을 돌려주지 않았다. return이 있는지 본다.",
    )
    answer = filled(answer)
    answer = float(torch.as_tensor(answer).detach())
    moved = (before - flat(model.parameters())) / 0.1

    def is_step(g):
        return torch.allclose(moved, g, atol=1e-4)

    expect(len(steps) > 0, "가중치를 옮기지 않았다. optimizer.step()이 없다.")
    expect(
        len(steps) == 1,
        f"가중치를 {len(steps)}번 옮겼다. 다 모은 뒤에 한 번만 옮긴다.",
    )
    expect(
        not any(is_step(g + 1) for g in (right, by_own, last)),
        "전에 .grad에 남아 있던 것이 섞였다. "
        "모으기 전에 optimizer.zero_grad()로 비운다.",
    )
    expect(
        not is_step(torch.zeros_like(moved)),
        "가중치가 그대로다. backward()로 그래디언트를 구했는지 본다.",
    )
    expect(
        not is_step(last),
        "마지막 배치만 배웠다. 배치 사이에서는 그래디언트를 비우지 않는다.",
    )
    expect(
        not is_step(by_own) and not is_step(by_own / len(batches)),
        "저마다 자기 토큰 수로 나누었다. 모든 배치의 토큰을 더한 수를 "
        "norm으로 건넨다.",
    )
    expect(
        not is_step(right * sum(counts)),
        "손실의 합에서 backward했다. 토큰의 수로 나눈 것에서 해야 한다.",
    )
    expect(
        is_step(right),
        "큰 배치 하나로 옮긴 것과 가중치가 다르다. loss_compute의 둘째 "
        "값에서 배치마다 한 번씩 backward하는지 본다.",
    )
    expect(
        abs(answer - expected_loss) < 1e-3,
        f"가중치는 맞다. 손실은 {expected_loss:.3f}여야 하는데 "
        f"{answer:.3f}이다. 합을 모든 토큰의 수로 나눈다.",
    )
    return "큰 배치 하나로 옮긴 것과 가중치가 같다."
