"""What several tests of the link share."""

import pytest
from simulated_net import CELL, DESK, Net

from telerobot_nodes.core.protocol import LinkState


@pytest.fixture
def net():
    net = Net()
    net.run(1.0)
    assert net.state(CELL) is net.state(DESK) is LinkState.FRESH
    return net
