"""What all pictures share: a figure in the house's style that is saved as PNG, colours, thinned curves.

What must never enter: computing what is drawn (the rooms that own the values), pyplot and its global state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that people with any colour vision can distinguish [OkabeIto2008].
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
GREY, DARK_GREY = "#999999", "#666666"
CYCLE = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, DARK_GREY)
MAX_SAMPLES = 4000  # per curve: more only makes the file larger
STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "legend.frameon": False,
    "legend.fontsize": 8,
}


@contextmanager
def picture(file: Path, size: tuple[float, float], dpi: int = 110, layout: str = "constrained") -> Iterator[Figure]:
    """A figure of `size` [in] that is written to `file` on leaving; an exception inside writes nothing.

    Raises InvalidValueError for a name that ends as no kind of picture, and for a file that cannot be written.
    """
    import matplotlib as mpl
    from cycler import cycler
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style: Any = {**STYLE, "axes.prop_cycle": cycler(color=CYCLE)}
    if file.suffix[1:].lower() not in FigureCanvasAgg.get_supported_filetypes():
        raise InvalidValueError("picture", str(file), "allowed: a file that ends in .png, or another kind of picture")
    with mpl.rc_context(rc=style):
        figure = Figure(figsize=size, layout=layout)  # type: ignore[arg-type]
        FigureCanvasAgg(figure)
        yield figure
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(file, dpi=dpi)
        except OSError as error:
            raise InvalidValueError("picture", str(file), f"allowed: a file that can be written; {error}") from None


def thin(values: FloatArray) -> FloatArray:
    """At most MAX_SAMPLES rows of `values`, evenly chosen."""
    return values[:: max(1, -(-len(values) // MAX_SAMPLES))]


def frame_cube(axes: Any, center: FloatArray, half: float) -> None:
    """Limits of a 3-D view: a cube of half edge `half` [m] about `center` (3,) [m], axes labelled."""
    for name, middle in zip("xyz", center, strict=True):
        axes.set(**{f"{name}lim": (middle - half, middle + half), f"{name}label": f"{name} [m]"})
    axes.set_box_aspect((1.0, 1.0, 1.0))
    axes.tick_params(labelsize=7)


def note(axes: Axes, text: str) -> None:
    """A text in the middle of axes that have nothing to show."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=GREY)
