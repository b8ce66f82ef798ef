"""Where the package's data files lie: the source tree, an ament prefix, or the environment's own share folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from telerobot_nodes.errors import ModelError


def share_path(relative: str) -> Path:
    """The existing data file or folder `relative` (such as `urdf/telerobot_arm.urdf`).

    Raises ModelError naming every place searched.
    """
    prefixes = [*filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)), sys.prefix]
    roots = [Path(__file__).resolve().parents[3], *(Path(prefix) / "share" / "telerobot" for prefix in prefixes)]
    for root in roots:
        if (root / relative).exists():
            return root / relative
    raise ModelError(f"{relative}: not found in {', '.join(map(str, roots))}")


def example_robot_data() -> Path:
    """Folder of the `example-robot-data` wheel, which has no importable module; ModelError when not installed."""
    import pinocchio

    candidates = [parent / "share" / "example-robot-data" for parent in Path(pinocchio.__file__).parents]
    candidates += [Path(entry) / "cmeel.prefix" / "share" / "example-robot-data" for entry in sys.path]
    candidates += [Path(p) / "share" / "example-robot-data" for p in os.environ.get("AMENT_PREFIX_PATH", "").split(":")]
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise ModelError("example-robot-data is not installed: `make robots`, or `pip install telerobot[robots]`")
