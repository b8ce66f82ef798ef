"""The hand of the benches that move an arm for a long time."""

import numpy as np

from telerobot_nodes.bench.join import closed_path, write_hand
from telerobot_nodes.operator.devices import load_hand


def test_it_ends_at_rest_where_it_began_and_moves_on_the_way():
    time, position = closed_path()
    speed = np.linalg.norm(np.diff(position, axis=0), axis=1) / np.diff(time)
    np.testing.assert_allclose(position[-1], position[0], atol=1e-12)
    assert max(speed[0], speed[-1]) < 1e-4
    assert 0.02 < speed.max() < 0.2


def test_its_file_is_read_as_a_recorded_hand(tmp_path):
    hand = load_hand(write_hand(tmp_path / "hand.csv"))
    np.testing.assert_allclose(hand.position, closed_path()[1], atol=1e-6)
