"""The tests of the checkout that the package is run from: benchmarks run some of them."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from telerobot_nodes.errors import NotInstalledError

PACKAGE = Path(__file__).resolve().parents[2]
ROOT = PACKAGE.parent


def tests() -> Path:
    """Folder of the tests. Raises NotInstalledError outside a checkout, or without what testing needs."""
    missing = [name for name in ("pytest", "hypothesis") if find_spec(name) is None]
    folder = ROOT / "test"
    if missing or not (folder / "support").is_dir():
        lacking = ", ".join(missing) or str(folder)
        raise NotInstalledError(f"{lacking}: missing; needed: a checkout of the project after `make develop`")
    return folder


def load_test(path: str) -> ModuleType:
    """Import a test file, `path` below the folder of the tests. Raises NotInstalledError."""
    folder = tests()
    sys.path.insert(0, str(folder / "support"))
    try:
        spec = spec_from_file_location(Path(path).stem, folder / path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder / "support"))
    return module
