"""What `make test` leaves to the night: cases of one test (the marker `brief(n)`) and examples of a property."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import settings


def leave_to_the_night(items):
    """Mark as nightly all but n cases, spread evenly, of every test marked `brief(n)`; cases left out anyway apart."""
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("brief") and not any(map(item.get_closest_marker, ("nightly", "slow"))):
            cases[item.nodeid.partition("[")[0]].append(item)
    for same in cases.values():
        (count,) = same[0].get_closest_marker("brief").args
        kept = set(np.linspace(0, len(same) - 1, min(count, len(same))).round().astype(int).tolist())
        for k, item in enumerate(same):
            if k not in kept:
                item.add_marker(pytest.mark.nightly)


def examples(day, night):
    """How many examples of a property are tried, by `make test` and at night."""
    return day if settings.get_current_profile_name() == "brief" else night
