"""One style for all figures, with a font that has 한글."""

from pathlib import Path

import matplotlib
from matplotlib import font_manager

FONT = Path(__file__).parent / "fonts" / "NotoSansKR-subset.otf"


def set_style() -> None:
    """Use the repository's own font and quiet defaults from here on."""
    font_manager.fontManager.addfont(FONT)
    matplotlib.rcParams.update(
        {
            "font.family": ["DejaVu Sans", "Noto Sans KR"],
            "font.size": 10,
            "figure.figsize": (6.4, 3.6),
            "figure.dpi": 100,
            "figure.facecolor": "white",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "image.cmap": "Blues",
        }
    )
