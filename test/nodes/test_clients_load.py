"""What a shell's client loads: `telerobot halt` waits for no compiler and no physics."""

import subprocess
import sys

HEAVY = ("matplotlib", "mujoco", "numba", "scipy", "viser")


def test_a_client_of_the_graph_loads_nothing_heavy():
    script = "import sys, telerobot_nodes.nodes.clients, telerobot_nodes.cli.stops; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "rclpy" in loaded
    assert not loaded.intersection(HEAVY)
