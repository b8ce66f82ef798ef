"""The arbiter against a model of its rules, and what holds whatever agents say (properties)."""

import contextlib

from arbiter_place import Place
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.errors import AuthorityError, TransitionError
from telerobot_nodes.plan.authority.request_line import HEARTBEAT_TIMEOUT, MOST_WAITING, TURN

REQUEST, CONSENT, REFUSE, TAKE, RELEASE, HEARTBEAT = AuthorityKind
NAMES = st.sampled_from(["ann", "bob", "eve", "boss"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([kind for kind in AuthorityKind if kind is not TAKE]), NAMES),
        st.tuples(st.just(TAKE), st.just("boss"), NAMES),
        st.tuples(st.just(TAKE), st.just("eve"), NAMES),  # no supervisor
        st.tuples(st.just("claim"), NAMES),
        st.tuples(st.just("wait"), st.sampled_from([0.5, 0.9 * HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT, 0.6 * TURN])),
    ),
    max_size=40,
)


class Model:
    """The rules, without a table of states."""

    def __init__(self):
        self.holder, self.line, self.may, self.forced = "", [], "", False
        self.heard, self.kept = {}, {}  # [s]
        self.now = 0.0

    @property
    def free(self):
        return not self.holder and not self.may

    def first(self, agents):
        return next((name for name in agents if self.now - self.heard.get(name, -10.0) < HEARTBEAT_TIMEOUT), "")

    def next_turn(self, behind):
        """The first who is heard comes before those who are silent."""
        first = self.first(behind)
        self.line = [first, *(name for name in behind if name != first)] if first else behind
        self.may, self.forced = "", False

    def turn(self):
        while (first := self.first(self.line)) and self.now - self.kept.setdefault(first, self.now) >= TURN:
            self.leave(first)
        return first

    def leave(self, agent):
        self.line = [name for name in self.line if name != agent]
        self.kept.pop(agent, None)

    def free_it(self):
        self.holder, self.may, self.forced, self.kept = "", "", False, {}

    def claims(self, agent):
        turn = self.turn() if self.free else ""
        allowed = turn in ("", agent) if self.free else agent == self.may or (agent == self.holder and not self.forced)
        if allowed and agent != self.holder:
            self.holder = agent
            self.next_turn([name for name in self.line if name != agent])
        return allowed

    def hears(self, kind, agent):
        concerned = (self.holder, *self.line)
        self.heard = {name: time for name, time in self.heard.items() if name in concerned}
        if kind in (REQUEST, TAKE) or agent in concerned:
            self.heard[agent] = self.now
        if self.free:
            self.turn()
        elif self.line and not self.forced and not self.first(self.line[:1]) and self.first(self.line[1:]):
            silent = self.line[0]
            self.next_turn(self.line[1:])
            self.line.insert(1, silent)

    def says(self, kind, agent, target):
        asker = "" if self.free else next(iter(self.line), "")
        if kind is REQUEST and agent != self.holder and agent not in self.line:
            self.line.append(agent)
        elif kind is CONSENT:
            self.may = asker
        elif kind is REFUSE:
            self.next_turn(self.line[1:])
        elif kind is TAKE and target != self.holder:
            rest = self.line[1:] if self.forced else self.line
            self.line = [target, *(name for name in rest if name != target)]
            self.may, self.forced = target, True
        elif kind is TAKE and self.may:
            self.next_turn(self.line[1:])
        elif kind is RELEASE:
            if agent == self.holder or (agent == asker and not self.holder):
                self.free_it()
            if agent == asker and self.holder:
                self.next_turn(self.line[1:])
            else:
                self.leave(agent)


@given(STEPS)
def test_authority_changes_only_to_who_was_free_to_take_it_consented_or_forced(steps):
    place, model = Place(), Model()
    for kind, agent, *target in steps:
        before = place.holder
        if kind == "wait":
            place.now += agent
            continue
        if kind == "claim":
            model.now = place.now
            assert (place.claim(agent) == "") == model.claims(agent)
        else:
            model.now = place.now + 0.1
            model.hears(kind, agent)
            try:
                place.say(kind, agent, *target)
            except (AuthorityError, TransitionError):
                assert place.holder == before
            else:
                assert place.holder == ("" if kind is RELEASE and agent == before else before)
                model.says(kind, agent, *target or [""])
        assert place.holder == model.holder
        assert [name for name in (place.arbiter.asker, *place.arbiter.waiting) if name] == model.line


@given(STEPS, st.booleans())
def test_a_plan_that_was_released_is_soon_free_for_who_wants_it_though_others_are_only_heard(steps, heard):
    place = Place()
    for kind, agent, *target in steps:
        with contextlib.suppress(AuthorityError, TransitionError):
            if kind == "wait":
                place.now += agent
            elif kind == "claim":
                place.claim(agent)
            else:
                place.say(kind, agent, *target)
    if place.holder:
        place.say(RELEASE, place.holder)
    elif place.arbiter.asker:
        place.say(RELEASE, place.arbiter.asker)  # a supervisor's decision stands until one of the two changes it
    released = place.now
    while place.claim("sue") != "":
        assert place.now < released + (MOST_WAITING + 1) * (TURN + HEARTBEAT_TIMEOUT)
        for agent in ("ann", "bob", "eve", "boss") if heard else ():
            place.say(HEARTBEAT, agent)
        place.now += 0.1
    assert place.holder == "sue"
