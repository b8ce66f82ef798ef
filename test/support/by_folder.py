"""Which tests a run of pytest reads and which worker runs them, so that nothing is read or loaded for nothing."""

from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

WITH_NODES = Path("test", "nodes")  # its conftest marks what starts nodes


class ByFolder(LoadScopeScheduling):
    """Tests of a folder run on one worker: they share kernels, models and fixtures."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid.partition("::")[0].rpartition("/")[0]


def has_no_graph(path: Path, root: Path) -> bool:
    """Whether no test of a file can be marked `system`: neither the file nor a conftest says so."""
    if not path.name.startswith("test_") or path.suffix != ".py" or path.is_relative_to(root / WITH_NODES):
        return False
    return "mark.system" not in path.read_text(encoding="utf-8")
