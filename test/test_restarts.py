"""How often a node is started again."""

from telerobot_nodes.runtime.restarts import PAUSES, WINDOW, Restarts


def test_pauses_grow_and_end_with_the_last_start_of_the_window():
    restarts = Restarts(len(PAUSES))
    assert [restarts.pause(float(k)) for k in range(len(PAUSES) + 1)] == [*PAUSES, None]
    assert restarts.count == len(PAUSES)


def test_a_start_is_allowed_again_when_an_older_one_leaves_the_window():
    restarts = Restarts(2)
    assert [restarts.pause(at) for at in (0.0, 10.0, WINDOW - 0.1)] == [*PAUSES[:2], None]
    assert restarts.pause(WINDOW) == PAUSES[1]  # that of 10 s is still in it
    assert restarts.pause(2.0 * WINDOW + 10.0) == PAUSES[0]


def test_without_a_start_in_the_table_there_is_none():
    assert Restarts(0).pause(0.0) is None
