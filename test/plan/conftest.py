"""Makes the rig beside these tests importable (test/ has no packages)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
