"""`python -m telerobot_nodes.pages [FOLDER]` writes every generated page of the documentation into a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from telerobot_nodes.pages.generated import write_pages

if __name__ == "__main__":
    for page in write_pages(Path(sys.argv[1] if len(sys.argv) > 1 else "docs")):
        print(page)
