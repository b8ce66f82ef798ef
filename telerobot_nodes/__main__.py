"""The `telerobot` command."""

from __future__ import annotations

import sys

EXIT_INTERRUPTED = 130  # as a shell has it: 128 + SIGINT


def main() -> int:
    """Run the command line; Ctrl-C ends it without a traceback of its own, while commands still load too."""
    try:
        from telerobot_nodes.cli import main as run

        return run()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
