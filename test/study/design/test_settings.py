"""Settings of a study: what is refused, by name."""

import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.study.design import StudySettings


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tasks": ("juggle",)}, "tasks: 'juggle' is not allowed; allowed: trace, slow-arm"),
        ({"tasks": ()}, "tasks: 'none' is not allowed; allowed: at least one"),
        ({"conditions": ("a", "e")}, "conditions: 'e' is not allowed; allowed: a, b, c, d"),
        ({"conditions": ("a", "a")}, "conditions: 'a' is not allowed; allowed: each once"),
        ({"delays": (-1.0,)}, r"delays: -1\.0 is not allowed; allowed: 0 \.\. 60"),
        ({"delays": (float("nan"),)}, "delays: nan is not allowed"),
        ({"seed": -1}, "seed: -1"),
        ({"limit": 0.0}, r"limit: 0\.0 is not allowed; allowed: 1 \.\. 3600 \[s\]"),
        ({"robot": ""}, "robot: ''"),
    ],
)
def test_what_is_not_allowed_is_refused_by_its_name(given, said):
    with pytest.raises(InvalidValueError, match=said):
        StudySettings(**given)
