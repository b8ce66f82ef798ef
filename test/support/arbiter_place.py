"""A robot's arbiter and receiver together."""

from telerobot_nodes.core.protocol import AuthorityKind, OperationKind
from telerobot_nodes.plan.authority import AuthorityArbiter, AuthorityMessage
from telerobot_nodes.plan.log import Operation, Receiver


class Place:
    """What agents say and claim, one after the other."""

    def __init__(self, **kwargs):
        self.arbiter = AuthorityArbiter(frozenset({"boss"}), **kwargs)
        self.receiver = Receiver(may_open=self.arbiter.may_open)
        self.now = 0.0

    def say(self, kind, agent, peer=None, number=0, epoch=0):
        self.now += 0.1
        answers = self.arbiter.asker if kind in (AuthorityKind.CONSENT, AuthorityKind.REFUSE) else ""
        message = AuthorityMessage(kind, agent, answers if peer is None else peer, epoch, number)
        self.arbiter.handle(self.now, message, self.receiver)

    def claim(self, agent, epoch=None):
        epoch = self.receiver.position.epoch + 1 if epoch is None else epoch
        (delivery,) = self.receiver.receive(self.now, [Operation(epoch, 1, OperationKind.AUTHORITY, agent)])
        return delivery.refusal

    @property
    def holder(self):
        return self.receiver.position.authority
