"""The `telerobot` command."""

from __future__ import annotations

import sys

from telerobot_nodes.cli import main

if __name__ == "__main__":
    sys.exit(main())
