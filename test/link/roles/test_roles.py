"""The rights of a key: names, control without consent, stops of others."""

import pytest

from telerobot_nodes.link.roles import HostRole, KeyRole, RoleFault, Roles, StopPermits

ROLES = Roles({"desk": HostRole(KeyRole.OPERATOR, ("desk", "ana")), "office": HostRole(KeyRole.SUPERVISOR, ("boss",))})


@pytest.mark.parametrize(
    ("host", "agent", "speaks", "takes"),
    [
        ("desk", "desk", None, RoleFault.SUPERVISORS_ONLY),
        ("desk", "ana", None, RoleFault.SUPERVISORS_ONLY),
        ("desk", "boss", RoleFault.OTHER_NAME, RoleFault.OTHER_NAME),
        ("desk", "supervisor", RoleFault.OTHER_NAME, RoleFault.OTHER_NAME),
        ("office", "boss", None, None),
        ("office", "desk", RoleFault.OTHER_NAME, RoleFault.OTHER_NAME),
        ("elsewhere", "desk", RoleFault.OTHER_NAME, RoleFault.OTHER_NAME),
    ],
)
def test_who_may_speak_in_a_name_and_who_may_take(host, agent, speaks, takes):
    for check, fault in ((ROLES.of_name, speaks), (ROLES.of_take, takes)):
        refusal = check(host, agent)
        assert (refusal and refusal.fault) == fault
        assert refusal is None or (host in refusal.reason and "allowed: " in refusal.reason)


def test_an_observer_is_refused_whatever_he_asks_and_holds_no_right():
    roles = Roles({"booth": HostRole(KeyRole.OBSERVER, ("booth",)), "desk": HostRole(KeyRole.OPERATOR, ("desk",))})
    refusal = roles.of_observer("booth")
    assert refusal.fault is RoleFault.OBSERVER
    assert "booth" in refusal.reason and "allowed: " in refusal.reason
    assert roles.of_observer("desk") is roles.of_observer("elsewhere") is None
    assert roles.of_take("booth", "booth").fault is RoleFault.SUPERVISORS_ONLY
    assert set(roles.operators) == {"desk"}
    assert not roles.supervisors


def test_the_names_that_may_take_control_are_those_of_supervisors_keys():
    assert ROLES.supervisors == {"boss"}
    assert ROLES
    assert not Roles({})


def test_an_operator_ends_only_the_stop_that_he_is_permitted_to_end():
    permits = StopPermits(ROLES)
    assert permits.refusal("boss", "RESUME", 3, "halt 3") is None
    assert permits.refusal("program", "RESUME", 3, "halt 3") is None
    refusal = permits.refusal("desk", "RESUME", 3, "halt 3 by cell/shell/1")
    assert refusal.fault is RoleFault.STOP_OF_ANOTHER
    assert "halt 3 by cell/shell/1" in refusal.reason
    permits.permit("desk", 3)
    assert permits.refusal("desk", "RESUME", 3, "halt 3") is None
    assert permits.refusal("ana", "RESUME", 3, "halt 3") is not None
    assert permits.refusal("desk", "RESUME", 4, "halt 4") is not None  # somebody has halted meanwhile
