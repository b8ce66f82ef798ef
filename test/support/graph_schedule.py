"""How tests that start nodes are shared between two workers: whole graphs never run two at a time."""

from xdist.scheduler import LoadScopeScheduling

GRAPHS = ("test/system/", "test/launch/", "test/operator/")  # folders whose tests start whole graphs


class BesideTheGraphs(LoadScopeScheduling):
    """Two scopes: tests of whole graphs, and tests of single nodes."""

    def _split_scope(self, nodeid):
        return "graphs" if nodeid.startswith(GRAPHS) else "nodes"
