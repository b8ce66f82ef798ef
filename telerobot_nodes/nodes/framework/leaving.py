"""A node leaves the graph for good, without the hang that Fast DDS 2.14 has when others come or go meanwhile.

When a participant is deleted, Fast DDS first waits until the callbacks of its listener have returned. It waits "for
ever": until a time beyond the range of the clock. Built for an older C library, that wait fails at once and is
repeated, with the lock held that the callback needs: neither ends. The lock of the interpreter is held too, so no
Python code can help.

`leave` takes the listener off before, with a time limit that the clock can hold. Afterwards no callback begins, and the
deletion has nothing to wait for. Other middleware, and a Fast DDS without these functions, is left alone.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

LIBRARY = "libfastrtps.so.2.14"
GET_FACTORY = "_ZN8eprosima7fastdds3dds24DomainParticipantFactory12get_instanceEv"
LOOK_UP = "_ZNK8eprosima7fastdds3dds24DomainParticipantFactory19lookup_participantsEj"
GUID = "_ZNK8eprosima7fastdds3dds17DomainParticipant4guidEv"
SET_LISTENER = (
    "_ZN8eprosima7fastdds3dds17DomainParticipant12set_listener"
    "EPNS1_25DomainParticipantListenerENSt6chrono8durationIlSt5ratioILl1ELl1EEEE"
)
PREFIX = 12  # [bytes] of an endpoint's identity: its participant
CALLBACK_LIMIT = 5  # [s] for a callback that runs


class _Pointers(ctypes.Structure):
    """A std::vector of pointers."""

    _fields_ = (("first", ctypes.c_void_p), ("last", ctypes.c_void_p), ("room", ctypes.c_void_p))


class _FastDds:
    """The loaded Fast DDS. Raises OSError or AttributeError without it, or without what is used of it."""

    def __init__(self) -> None:
        library = ctypes.CDLL(LIBRARY, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        self._factory, self._look_up = library[GET_FACTORY], library[LOOK_UP]
        self._guid, self._set_listener = library[GUID], library[SET_LISTENER]
        self._factory.restype = ctypes.c_void_p
        self._look_up.argtypes, self._look_up.restype = (ctypes.c_void_p, ctypes.c_uint32), _Pointers
        self._guid.argtypes, self._guid.restype = (ctypes.c_void_p,), ctypes.c_void_p
        self._set_listener.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)

    def participants(self, domain: int) -> dict[bytes, int]:
        """Addresses of this process's participants in a domain, by what their endpoints' identities begin with."""
        found = self._look_up(self._factory(), domain)
        if not found.first:
            return {}
        count = (found.last - found.first) // ctypes.sizeof(ctypes.c_void_p)
        addresses = list((ctypes.c_void_p * count).from_address(found.first))
        ctypes.CDLL(None).free(ctypes.c_void_p(found.first))
        return {ctypes.string_at(self._guid(address), PREFIX): address for address in addresses}

    def take_listener(self, participant: int) -> None:
        """Let no callback of a participant begin any more, and wait for the one that runs."""
        self._set_listener(participant, None, CALLBACK_LIMIT)


def leave(node: Any) -> None:
    """Destroy `node`, the last one of its context. May be repeated."""
    middleware = _fast_dds()
    if middleware is not None and node.context.ok():
        participants = middleware.participants(node.context.get_domain_id())
        for prefix in _prefixes(node) & participants.keys():
            middleware.take_listener(participants[prefix])
    node.destroy_node()


@cache
def _fast_dds() -> _FastDds | None:
    try:
        return _FastDds()
    except (OSError, AttributeError):
        return None


def _prefixes(node: Any) -> set[bytes]:
    """Identities of the participants that own what a node of this name publishes and subscribes to."""
    endpoints = list(node.get_publishers_info_by_topic("/rosout"))
    for subscription in node.subscriptions:
        endpoints += node.get_subscriptions_info_by_topic(subscription.topic_name)
    name = (node.get_name(), node.get_namespace())
    return {bytes(one.endpoint_gid[:PREFIX]) for one in endpoints if (one.node_name, one.node_namespace) == name}
