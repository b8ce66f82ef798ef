"""A ROS domain that no other test process of this host uses: one file lock per domain.

Domains 1 to 100 only: the ports of higher ones may be in Linux's range of ephemeral ports.
"""

import fcntl
import tempfile
from pathlib import Path

DOMAINS = range(1, 101)
FOLDER = Path(tempfile.gettempdir()) / "telerobot-ros-domains"


class NoDomainError(Exception):
    """Every domain is in use."""


def lock_domain(folder=FOLDER, domains=DOMAINS):
    """A free domain and the open file that holds it until it is closed or the process ends."""
    folder.mkdir(mode=0o777, exist_ok=True)
    for domain in domains:
        file = (folder / f"{domain}.lock").open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
        else:
            return domain, file
    raise NoDomainError(f"ROS domains {domains[0]} to {domains[-1]} are all in use; their locks are in {folder}")
