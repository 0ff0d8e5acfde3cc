import torch

from transformer import Batch

# 1. 0, 1, 2번은 시작, 끝, 패딩이다. 짧은 문장 뒤는 패딩으로 채웠다.
words = "<s> </s> <pad> . 나는 사과를 먹었다 잤다 I ate an apple slept".split()
src = torch.tensor([[4, 5, 6, 3], [4, 7, 3, 2]])
tgt = torch.tensor([[0, 8, 9, 10, 11, 3, 1], [0, 8, 12, 3, 1, 2, 2]])
batch = Batch(src, tgt, pad=2)


def text(ids, width=0):
    return " ".join(words[i].ljust(width) for i in ids).rstrip()


def show_rows(batch, i):
    print("  넣는 것 ", text(batch.tgt[i], 5))
    print("  맞힐 것 ", text(batch.tgt_y[i], 5))


print(f"번역문 {tuple(tgt.shape)}", end=" → ")
print(f"tgt {tuple(batch.tgt.shape)}, tgt_y {tuple(batch.tgt_y.shape)}")
for i in range(2):
    print(text(src[i]))
    show_rows(batch, i)

# 2. ■는 볼 수 있는 곳, □는 가린 곳이다. 화살표는 '넣는 것 → 맞힐 것'이다.
print(f"\nsrc_mask {tuple(batch.src_mask.shape)}", end=", ")
print(f"tgt_mask {tuple(batch.tgt_mask.shape)}")
for i in range(2):
    cells = " ".join("■" if seen else "□" for seen in batch.src_mask[i, 0])
    print(f"  {cells}       원문: {text(src[i])}")
    for row, a, b in zip(batch.tgt_mask[i], batch.tgt[i], batch.tgt_y[i]):
        cells = " ".join("■" if seen else "□" for seen in row)
        print(f"  {cells}   {words[a]} → {words[b]}")

# 3. 13단어를 고르게 찍으면 문제마다 손실이 log 13이다. 패딩을 늘려 본다.
print("\n더 붙인 패딩  칸  ntokens  칸으로 나눔  ntokens로 나눔")
for more in (0, 4, 14):
    longer = Batch(src, torch.cat([tgt, tgt.new_full((2, more), 2)], dim=1))
    cells, n = longer.tgt_y.numel(), longer.ntokens
    total = n * torch.tensor(13.0).log()
    print(f"{more:<12}  {cells}  {n:<7}", end="  ")
    print(f"{total / cells:<11.2f}  {total / n:.2f}")
