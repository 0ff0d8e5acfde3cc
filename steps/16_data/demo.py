from transformer import (
    decode,
    encode,
    find,
    group_by_length,
    pad_rows,
    read_pairs,
    train_tokenizer,
)

# 1. 조각은 학습 문장으로만 배운다. 두 언어가 어휘 하나를 나눠 쓴다.
train = read_pairs(find("data/ko-en/train.tsv"))
tokenizer = train_tokenizer([text for pair in train for text in pair], 2000)
print(f"학습 문장 {len(train):,}쌍, 어휘 {tokenizer.get_vocab_size():,}개")


def cut(text):  # ▁가 없는 Windows 콘솔이 있어서 _로 바꾸어 찍는다
    return " ".join(tokenizer.encode(text).tokens).replace("▁", "_")


words = {word.strip(".,?") for ko, _ in train for word in ko.split()}
eat = sorted(word for word in words if word.startswith("먹"))
print(f"한국어 단어 {len(words):,}가지, 그 가운데 '먹-'은 {len(eat)}가지")
print("  " + ", ".join(cut(word) for word in eat))
for text in ("나는 어제 빵을 먹었다.", "I ate bread yesterday."):
    print(f"{text} → {cut(text)}")
print()

# 2. 처음 보는 글자는 바이트로 적는다. 그래서 그대로 되돌아온다.
for name, text in (("글자", "뷁"), ("이모지", "\U0001f34e"), ("기호", "</s>")):
    rows, n = encode(tokenizer, [text]), cut(text).count("<0x")
    print(f"{name}: {cut(text)}, 바이트 {n}개\n  번호 {rows[0]}", end=", ")
    print(f"되돌아오는가? {decode(tokenizer, rows) == [text]}")

# 3. 길이가 비슷한 것끼리 묶는다. 배치의 한쪽은 2,048칸을 넘지 않는다.
pairs = list(zip(*(encode(tokenizer, side) for side in zip(*train))))
groups = group_by_length(pairs, 2048, seed=0)
same = sorted(pair for group in groups for pair in group) == sorted(pairs)
print(f"\n배치 {len(groups)}개, 빠지거나 겹친 쌍이 없는가? {same}")
sides = [pad_rows(side) for group in groups for side in zip(*group)]
cells = [side.numel() for side in sides]  # 패딩까지 센 칸
tokens = sum(len(row) for pair in pairs for row in pair)
print(f"한쪽은 많아야 {max(cells):,}칸, 토큰은 모두 {tokens:,}개")
for name, n in (("묶으면", sum(cells)), ("72칸씩이면", 2 * 72 * len(pairs))):
    print(f"{name} {n:,}칸, 그 가운데 패딩이 {1 - tokens / n:.1%}")
