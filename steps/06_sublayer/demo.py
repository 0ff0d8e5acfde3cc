import torch

from transformer import LayerNorm, SublayerConnection, clones


class PostLN(SublayerConnection):  # 논문의 식
    def forward(self, x, sublayer):
        return self.norm(x + self.dropout(sublayer(x)))


# 1. 토큰 하나, 특징 넷. 평균은 2이고 n-1로 나눈 표준편차도 2다.
x = torch.tensor([1.0, 1.0, 1.0, 5.0])
print("(1, 1, 1, 5) →", *[f"{value:.3f}" for value in LayerNorm(4)(x)])
torch.manual_seed(0)
print("정규화한 뒤의 표준편차")
for n in (4, 512):
    y = LayerNorm(n)(torch.randn(n))
    print(f"  특징 {n}개: n-1로 나누면 {y.std():.3f}", end=", ")
    print(f"n으로 나누면 {y.std(correction=0):.3f}")
print()

# 2. 서브층이 0만 내놓으면 x가 그대로 나오는가?
print("서브층이 0일 때 (1, 1, 1, 5)의 출력")
kinds = (("Pre-LN ", SublayerConnection), ("Post-LN", PostLN))
for name, kind in kinds:
    y = kind(4, 0.1).eval()(x, torch.zeros_like)
    print(f"  {name} ", *[f"{value:.1f}" for value in y], end="")
    print(f"   입력과의 차이 {(y - x).abs().max():.1e}")
print()

# 3. 서브층이 x와 무관한 난수를 내놓으면, 그래디언트가 입력으로 돌아올 길은
#    잔차 연결뿐이다. 그 길로 몇 배가 되어 돌아오는지 잰다.
print("서브층    구조       출력의 표준편차    입력에 닿은 그래디언트")
for N in (6, 48):
    for name, kind in kinds:
        x = torch.randn(100, 512, requires_grad=True)
        y = x
        for connect in clones(kind(512, 0.1), N).eval():
            y = connect(y, torch.randn_like)
        gradient = torch.randn_like(y)  # 출력에서 출발하는 그래디언트
        y.backward(gradient)
        ratio = x.grad.norm() / gradient.norm()
        print(f"{N:>2}개      {name}    {y.std():.1f}", end="")
        print(f"                {ratio:.1g}배")
