"""Sessions of a queue with a robot behind a link."""

import plan_models
import pytest
from queue_session import reach

from telerobot_nodes.plan.queue import PathPlanQueue, QueueConfig


@pytest.fixture(scope="session")
def models():
    return plan_models


@pytest.fixture
def make(models):
    def session(delay=0.0, jitter=0.0, loss=0.0, duplicate=0.0, robot=None, seed=1, **config):
        queue = PathPlanQueue(QueueConfig(**config), reach)
        up = models.Link(seed, delay, jitter, loss, duplicate)
        down = models.Link(seed + 1, delay, jitter, loss, duplicate)
        return models.Session(queue, robot or models.Robot(), up, down)

    return session
