"""The `telerobot` command."""

from __future__ import annotations

import sys

EXIT_INTERRUPTED = 130  # as a shell has it: 128 + SIGINT


def main() -> int:
    """Run the command line; Ctrl-C ends it at any time, while it still loads too, without a traceback."""
    try:
        from telerobot_nodes.cli import main as run

        return run()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
