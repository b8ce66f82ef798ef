"""Every skill on the running graph, in physics: what is reported was done, and the database holds what is so.

`telerobot bench skills --option graph=5` counts over many starts.
"""

import pytest

from telerobot_nodes.bench.rtc.skill_graph import Worlds, play_in
from telerobot_nodes.bench.rtc.skill_physics import schedule
from telerobot_nodes.core.config import share_path

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def worlds():
    with Worlds(share_path("config/rtc")) as made:
        yield made


@pytest.mark.parametrize("start", list(schedule(1, seed=3)), ids=lambda start: start.play.text)
def test_a_skill_that_reports_success_has_succeeded(worlds, start):
    result = play_in(worlds, start)
    assert (result.reported, result.done, result.false_entries) == (True, True, ()), result.why
