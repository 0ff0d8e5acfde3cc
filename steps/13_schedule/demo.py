import torch
from torch.optim.lr_scheduler import LambdaLR

from transformer import rate

# 1. 논문의 기본 모델이다. d_model 512, 웜업 4,000걸음, 모두 100,000걸음.
top = rate(4000, 512, 1, 4000)
print("   걸음    학습률      꼭대기의 몇 배")
for n in (0, 1, 1000, 2000, 4000, 16000, 100000):
    lr = rate(n, 512, 1, 4000)
    print(f"{n:>7,}    {lr:.2e}    {lr / top:.2g}")
try:
    print(0**-0.5)  # 0걸음을 1걸음으로 세지 않으면 이것을 셈하게 된다
except ZeroDivisionError as error:
    print(f"0 ** -0.5는? {type(error).__name__}")
print("d_model도 웜업도 1이면:", *(rate(n, 1, 1, 1) for n in (1, 4, 16)))
print()

# 2. 꼭대기가 어디에 있고 얼마나 높은지 한 걸음씩 다 셈해서 찾는다.
print("d_model      웜업    꼭대기의 걸음    꼭대기")
sizes = [(256, 4000), (512, 4000), (1024, 4000), (512, 8000), (512, 16000)]
for d_model, warmup in sizes:
    curve = [rate(n, d_model, 1, warmup) for n in range(20000)]
    top = max(curve)
    print(f"{d_model:>7,}    {warmup:>6,}", end="    ")
    print(f"{curve.index(top):>13,}    {top:.2e}")
print()


# 3. LambdaLR은 옵티마이저의 lr에 rate를 곱한다. 그래서 lr은 1.0이다.
def schedule(n):
    return rate(n, 512, 1, 4000)


weight = torch.nn.Parameter(torch.zeros(1))
optimizer = torch.optim.Adam([weight], lr=1.0, betas=(0.9, 0.98), eps=1e-9)
scheduler = LambdaLR(optimizer, schedule)
for n in range(4):
    (lr,) = scheduler.get_last_lr()
    print(f"lr 1.0 × rate({n}) = {lr:.2e}", end=", ")
    print(f"rate와 같은가? {lr == schedule(n)}")
    optimizer.step()  # 이 학습률로 가중치를 고치고
    scheduler.step()  # 다음 학습률로 넘어간다
