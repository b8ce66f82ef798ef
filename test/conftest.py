"""What every test shares: a ROS domain of its own, and the recorded hands."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HANDS = ROOT.parent / "shared" / "data" / "hand"

# Before anything imports rclpy: one domain per test process, on this host only; messages check their fields.
os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % 100)
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
os.environ["ROS_PYTHON_CHECK_FIELDS"] = "1"


@pytest.fixture(scope="session")
def root() -> Path:
    """Root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def hands() -> Path:
    """Folder of the recorded hands; skips where it does not lie beside the project."""
    if not HANDS.is_dir():
        pytest.skip(f"the recorded hands are not at {HANDS}")
    return HANDS


@pytest.fixture(scope="session")
def hand_files(hands: Path) -> list[Path]:
    """Every recorded hand."""
    return sorted(hands.glob("*.csv"))
