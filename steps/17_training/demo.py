import atexit
import shutil
import tempfile
from pathlib import Path

import torch

import transformer
from transformer import Settings, find, load_checkpoint, read_pairs, train

torch.set_num_threads(1)  # 모델이 작으면 스레드 하나가 더 빠르다
# GPU가 있어도 쓰지 않는다. 그래야 어느 컴퓨터에서나 같은 것을 본다.
transformer.choose_device = lambda fp32: (torch.device("cpu"), None)
home = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, home)  # 노트북을 닫으면 사라진다


# 1. 오래 걸리지 않게, 영어가 네 단어 이하인 문장만 모아 배운다.
def write(name, **sizes):
    (home / name).mkdir()
    for part, n in sizes.items():
        pairs = read_pairs(find(f"data/ko-en/{part}.tsv"))
        short = [pair for pair in pairs if len(pair[1].split()) <= 4]
        lines = [f"{src}\t{tgt}\n" for src, tgt in short[:n]]
        path, text = home / name / f"{part}.tsv", "".join(lines)
        path.write_text(text, encoding="utf-8")
    return home / name


data = write("data", train=None, valid=None)
# 2. 설정을 주면 학습이 시작된다. said에는 학습이 하는 말이 담긴다.
size = {"layers": 1, "d_model": 64, "d_ff": 128, "heads": 2}
pace = {"max_tokens": 320, "epochs": 9, "warmup": 60, "factor": 0.5}
settings = Settings(vocab=1600, dropout=0.0, **size, **pace)
said = []
last = train(data, home / "run", settings, log=said.append)
print(said[0].splitlines()[1])

# 3. 마지막 체크포인트를 읽는다. history는 에포크마다 (학습, 검증) 손실이다.
model, tokenizer, record = load_checkpoint(last)
print("남은 체크포인트:", *sorted(p.name for p in last.parent.iterdir()))
print("마지막 것의 파일:", *sorted(p.name for p in last.iterdir()))
first, final = record["history"][0][1], record["history"][-1][1]
print(f"에포크 {record['epoch']}번에 갱신 {record['state']['accum_step']}번")
print(f"검증 손실이 첫 에포크 뒤의 절반도 안 되는가? {final < first / 2}")
