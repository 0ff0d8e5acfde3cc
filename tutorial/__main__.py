"""The command line: `python -m tutorial --help`."""

import argparse
import subprocess
import sys

from tutorial.errors import TutorialError
from tutorial.steps import ROOT, all_steps, find_step


def main(arguments: list[str] | None = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a console without 한글
    options = parser().parse_args(arguments)
    try:
        return options.command(options)
    except TutorialError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"읽거나 쓸 수 없다: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("멈췄다. 끝난 과는 남아 있다.", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m tutorial")
    commands = top.add_subparsers(required=True, metavar="command")

    def add(name, command, text):
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(command=command)
        return sub

    add("run", run, "execute all lessons into build/, make site/ of them")
    add("site", site, "make the web edition, site/, of notebooks/")
    add("lab", lab, "open JupyterLab on a copy of the lessons, lab/")
    sub = add(
        "diff", diff, "show what changed in transformer.py between two steps"
    )
    sub.add_argument("old", type=int)
    sub.add_argument("new", type=int)
    sub = add("notebooks", notebooks, "rebuild committed notebooks")
    sub.add_argument("steps", type=int, nargs="*", help="only these steps")
    sub.add_argument(
        "--all", action="store_true", help="even if nothing changed"
    )
    sub = add(
        "carry", carry, "carry an edit of one snapshot through all later ones"
    )
    sub.add_argument("step", type=int)
    sub.add_argument(
        "--solved",
        type=int,
        nargs="+",
        default=[],
        help="steps in which you have solved a conflict by hand",
    )
    add("frozen", frozen, "compare the snapshots with SHA256SUMS")
    return top


def run(options: argparse.Namespace) -> int:
    from tutorial import builder, production, web

    seconds = production.run(production.BUILD, all_steps())
    print_slowest(seconds)
    web.build(production.BUILD, web.SITE)
    print(f"브라우저로 읽기: {web.SITE / 'index.html'}")
    print(f"노트북: {production.BUILD / builder.CONTENTS}.ipynb")
    print("JupyterLab으로 열기: make lab")
    return 0


def site(options: argparse.Namespace) -> int:
    from tutorial import builder, web

    web.build(builder.NOTEBOOKS, web.SITE)
    print(f"브라우저로 읽기: {web.SITE / 'index.html'}")
    return 0


def notebooks(options: argparse.Namespace) -> int:
    from tutorial import builder, production

    if options.steps:
        steps = [find_step(number) for number in options.steps]
    else:
        steps = all_steps() if options.all else production.outdated()
    seconds = production.run(
        builder.NOTEBOOKS, steps, done=production.remember
    )
    print_slowest(seconds)
    print(f"다시 만든 노트북: {len(steps)}개")
    return 0


def print_slowest(seconds: dict[str, float]) -> None:
    for name in sorted(seconds, key=seconds.get, reverse=True):
        print(f"{seconds[name]:6.1f} s  {name}")
    print(f"{sum(seconds.values()):6.1f} s  모두 {len(seconds)}과")


def lab(options: argparse.Namespace) -> int:
    from tutorial import builder, production

    if kept := production.copy_for_lab():
        print(
            f"lab/에 있던 노트북 {len(kept)}개는 그대로 두었다. "
            "처음 것으로 되돌리려면 그 파일을 지우고 make lab을 다시 한다."
        )
    command = [sys.executable, "-m", "jupyterlab"]
    # Links lead out of lab/, to the snapshots.
    command += [f"--ServerApp.root_dir={ROOT}"]
    command += [str(production.LAB / f"{builder.CONTENTS}.ipynb")]
    server = subprocess.Popen(command, cwd=ROOT)
    while True:
        try:
            return server.wait()
        except KeyboardInterrupt:
            pass  # JupyterLab asks by itself whether to stop


def diff(options: argparse.Namespace) -> int:
    from tutorial.viewer import Diff

    print(Diff(find_step(options.old), find_step(options.new)))
    return 0


def carry(options: argparse.Namespace) -> int:
    from tutorial.frozen import carry

    changed = carry(options.step, options.solved)
    names = ", ".join(step.name for step in changed) or "없음"
    print(f"고친 뒤 단계: {names}. 이제 make notebooks와 make test를 한다.")
    return 0


def frozen(options: argparse.Namespace) -> int:
    from tutorial.frozen import problems

    found = problems()
    print("\n".join(found) or f"스냅숏 {len(all_steps())}개가 얼린 그대로다.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
