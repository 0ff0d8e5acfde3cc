"""Jupyter as a reader has it: a fresh clone, a server, a browser tab."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as TooLate

from tests.notebooks import code_cells, committed
from tutorial.production import BUILD
from tutorial.steps import ROOT, Step

SHOTS = BUILD / "shots"
CLONED = ("data", "models", "notebooks", "steps", "tutorial")
NOT_CLONED = ("__pycache__", ".ipynb_checkpoints", "multi30k")

# How each is started, and where it shows a notebook.
FRONTENDS = {
    "lab": ("jupyterlab", "lab/tree"),
    "notebook7": ("notebook", "notebooks"),
}
SERVER = {
    "ServerApp": {
        "ip": "127.0.0.1",
        "port": 0,  # any free one
        "open_browser": False,
        "allow_root": True,
    },
    "LabApp": {
        "expose_app_in_browser": True,
        "extension_manager": "readonly",
    },
    "JupyterNotebookApp": {"expose_app_in_browser": True},
}
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
    "@jupyterlab/extensionmanager-extension:plugin": {"enabled": False},
    # Cells out of sight are drawn too.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}
# Notebook 7.6 says this of its own settings, whatever it opens.
NOISE = {"notebook7": "Cannot read properties of undefined (reading 'schema')"}


class Server:
    """A running Jupyter server; all that it keeps lies in `folder`."""

    def __init__(self, frontend: str, folder: Path):
        self.folder = folder
        module, self.viewer = FRONTENDS[frontend]
        for name in CLONED:
            shutil.copytree(
                ROOT / name,
                folder / "clone" / name,
                ignore=shutil.ignore_patterns(*NOT_CLONED),
            )
        config = folder / "config"
        write_json(config / "jupyter_server_config.json", SERVER)
        overrides = config / "labconfig" / "default_setting_overrides.json"
        write_json(overrides, SETTINGS)
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module],
                cwd=folder / "clone",
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def environment(self) -> dict[str, str]:
        """Nothing of the Jupyter that is set up on this machine."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JUPYTER", "IPYTHON"))
        }
        return kept | {
            "JUPYTER_CONFIG_DIR": str(self.folder / "config"),
            "JUPYTER_DATA_DIR": str(self.folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(self.folder / "runtime"),
            "IPYTHONDIR": str(self.folder / "ipython"),
        }

    def wait_until_up(self, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            # The server writes down its address and its token.
            for path in (self.folder / "runtime").glob("jpserver-*.json"):
                try:
                    info = json.loads(path.read_text(encoding="utf-8"))
                    address = (info["hostname"], info["port"])
                    with socket.create_connection(address, timeout=5):
                        self.url, self.token = info["url"], info["token"]
                        return
                except (OSError, ValueError):
                    pass  # half written, or not listening yet
            time.sleep(0.1)
        pytest.fail(f"waited up to {seconds} s for Jupyter:\n{self.log()}")

    def address(self, step: Step) -> str:
        path = f"{self.viewer}/notebooks/{step.name}.ipynb"
        return f"{self.url}{path}?token={self.token}"

    def log(self) -> str:
        """How the server's log ends."""
        text = (self.folder / "log").read_text("utf-8", errors="replace")
        return "\n".join(text.splitlines()[-30:])

    def stop(self) -> None:
        """End the server and its kernels, which end without a server too."""
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def serving(frontend: str, folder: Path):
    server = Server(frontend, folder)
    try:
        server.wait_until_up()
        yield server
    finally:
        server.stop()


def write_json(path: Path, content: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


OUTPUTS = """() =>
    [...document.querySelectorAll(".jp-Notebook .jp-CodeCell")].map(cell =>
        [...cell.querySelectorAll(".jp-OutputArea-output")].map(output =>
            [output.dataset.mimeType, output.textContent]))"""

KERNEL_IS_IDLE = """() => {
    const widget = window.jupyterapp?.shell.currentWidget;
    const session = widget?.context?.sessionContext.session;
    return session?.kernel?.status === "idle";
}"""

PICTURES_ARE_DRAWN = """() =>
    [...document.querySelectorAll(".jp-Notebook img")].every(picture =>
        picture.naturalWidth > 0)"""

IS_TRUSTED = """() =>
    [...jupyterapp.shell.currentWidget.content.model.cells].every(cell =>
        cell.trusted)"""

COMMAND = """([name, options]) => {
    window.done = false;
    jupyterapp.commands.execute(name, options).finally(() => {
        window.done = true;
    });
}"""

# The canvas mixes translucent colours: white, the grounds, then the text.
COLOURS = """element => {
    const dot = window.dot ??= new OffscreenCanvas(1, 1)
        .getContext("2d", {willReadFrequently: true});
    const layers = [getComputedStyle(element).color];
    for (let e = element; e; e = e.parentElement)
        layers.push(getComputedStyle(e).backgroundColor);
    layers.push("white");
    const mixed = layers.reverse().map(colour => {
        dot.fillStyle = colour;
        dot.fillRect(0, 0, 1, 1);
        return [...dot.getImageData(0, 0, 1, 1).data].slice(0, 3);
    });
    return mixed.slice(-2);
}"""

ALL_COLOURS = f"""() => {{
    const colours = {COLOURS};
    const found = new Map();
    const areas = ".jp-MarkdownOutput, .jp-OutputArea-output";
    for (const area of document.querySelectorAll(areas)) {{
        const texts = document.createTreeWalker(area, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {{
            const text = texts.currentNode.data.trim();
            const element = texts.currentNode.parentElement;
            const seen = getComputedStyle(element).visibility === "visible";
            // Jupyter gives the code in prose colours of its own.
            if (text && seen && !element.closest("pre code")) {{
                const pair = colours(element);
                found.set(String(pair), [text.slice(0, 40), ...pair]);
            }}
        }}
    }}
    return [...found.values()];
}}"""


class Reader:
    """Someone with a notebook open in a tab of the browser."""

    def __init__(self, frontend: str, server: Server, page: Page):
        self.frontend, self.server, self.page = frontend, server, page
        self.wrong = []
        page.on("console", self.on_message)
        page.on("pageerror", self.on_error)
        page.on("request", self.on_request)

    def on_message(self, message) -> None:
        if message.type == "error":
            self.wrong.append(message.text)

    def on_error(self, error) -> None:
        if error.message != NOISE.get(self.frontend):
            self.wrong.append(error.message)

    def on_request(self, request) -> None:
        if not request.url.startswith((self.server.url, "data:", "blob:")):
            self.wrong.append(f"asked for {request.url}")

    def open(self, step: Step) -> None:
        """Open the step's notebook; wait until all of it is drawn."""
        self.step = step
        self.page.goto(self.server.address(step))
        text, code = text_cells(step), code_cells(step)
        outputs = [output for cell in code for output in cell.outputs]
        for part, expected in (
            (".jp-MarkdownOutput > :first-child", text),
            (".jp-CodeCell", code),
            (".jp-OutputArea-output", outputs),
        ):
            expect(self.page.locator(part)).to_have_count(len(expected))
        self.wait("the kernel", KERNEL_IS_IDLE)
        self.wait_for_pictures()

    def wait(self, what: str, condition: str, seconds: float = 30) -> None:
        try:
            self.page.wait_for_function(condition, timeout=seconds * 1000)
        except TooLate:
            pytest.fail(f"waited {seconds} s for {what}")

    def wait_for_pictures(self) -> None:
        self.wait("the pictures", PICTURES_ARE_DRAWN)

    def start(self, command: str, **options) -> None:
        """What a menu item does; `finish` waits until it is done."""
        self.page.evaluate(COMMAND, [command, options])

    def finish(self, what: str, seconds: float = 30) -> None:
        self.wait(what, "() => window.done", seconds)

    def trusts(self) -> bool:
        return self.page.evaluate(IS_TRUSTED)

    def trust(self) -> None:
        self.start("notebook:trust")
        self.page.locator(".jp-Dialog .jp-mod-accept").click()
        self.finish("the notebook to be trusted")

    def run_all(self) -> None:
        """Everything that is shown afterwards is new."""
        self.start("notebook:clear-all-cell-outputs")
        self.finish("the outputs to go")
        expect(self.page.locator(".jp-OutputArea-output")).to_have_count(0)
        self.start("notebook:run-all-cells")
        self.finish("all cells to run", 180)

    def use_theme(self, theme: str) -> None:
        self.start("apputils:change-theme", theme=theme)
        self.finish(theme)

    def outputs(self, expected: list) -> list:
        """What each code cell shows, with some time to become `expected`."""
        for _ in range(50):
            shown = [
                [[kind, trimmed(text)] for kind, text in cell]
                for cell in self.page.evaluate(OUTPUTS)
            ]
            if shown == expected:
                break
            self.page.wait_for_timeout(100)
        return shown

    def ground(self, locator: Locator) -> list[int]:
        ground, _ = locator.evaluate(COLOURS)
        return ground

    def contrasts(self) -> list[tuple[float, str]]:
        """For each pair of colours its contrast and a piece of such text."""
        return [
            (contrast(ground, colour), text)
            for text, ground, colour in self.page.evaluate(ALL_COLOURS)
        ]

    def photograph(self, name: str, top: Locator) -> None:
        """Scroll so that `top` is the first thing in sight, and save."""
        top.evaluate("element => element.scrollIntoView()")
        file = f"{self.frontend}-{self.step.number:02d}-{name}.png"
        self.page.screenshot(path=SHOTS / file)


def text_cells(step: Step) -> list:
    return [c for c in committed(step).cells if c.cell_type == "markdown"]


def stored_outputs(step: Step) -> list:
    """The committed outputs, in the form of `Reader.outputs`."""
    return [
        [as_shown(output) for output in cell.outputs]
        for cell in code_cells(step)
    ]


def as_shown(output) -> list[str]:
    if output.output_type == "stream":
        return [f"application/vnd.jupyter.{output.name}", trimmed(output.text)]
    if "text/html" in output.data:
        page = BeautifulSoup(output.data["text/html"], "html.parser")
        return ["text/html", trimmed(page.get_text())]
    return ["image/png", ""]


def trimmed(text: str) -> str:
    """Without the spaces that wiped out a progress bar under a line."""
    return re.sub(" +$", "", text, flags=re.M)


def contrast(one: list[int], other: list[int]) -> float:
    """As WCAG 2 defines it: from 1, the same, to 21, black on white."""
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def luminance(colour: list[int]) -> float:
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (value / 255 for value in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
