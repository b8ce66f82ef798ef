"""The cache of replies: a text received again is known, and its replies are published again."""

from types import SimpleNamespace

from telerobot_nodes.nodes.decision.reply_cache import ReplyCache

KEY = ("shell_1", 1)


def test_a_text_received_again_is_known_and_its_replies_are_kept():
    cache = ReplyCache()
    assert cache.add(KEY)
    assert not cache.add(KEY)
    cache.append(KEY, "reply", 7)
    cache.append_report(SimpleNamespace(origin=7, more=True))
    cache.append_report(SimpleNamespace(origin=7, more=False))
    cache.append_report(SimpleNamespace(origin=7, more=False))  # nothing follows the last
    assert len(cache.replies(KEY)) == 3


def test_a_report_names_the_text_that_began_its_command():
    cache = ReplyCache()
    cache.add(("host/shell/1f", 5))
    cache.append(("host/shell/1f", 5), "reply", 7)
    assert cache.number_of(7) == 5
    cache.append_report(SimpleNamespace(origin=7, more=False))
    assert cache.number_of(7) == 0


def test_the_oldest_text_of_a_sender_is_forgotten_and_no_other():
    cache = ReplyCache(texts=3)
    cache.add(("host/console/2f", 1))
    for number in range(1, 5):
        cache.add(("shell_1", number))
    cache.append(KEY, "too late", 7)
    cache.append_report(SimpleNamespace(origin=7, more=False))
    assert cache.replies(KEY) == []
    assert cache.add(KEY)
    assert not cache.add(("host/console/2f", 1))


def test_the_sender_that_was_silent_longest_is_forgotten():
    cache = ReplyCache(senders=2)
    cache.add(("a", 1))
    cache.append(("a", 1), "reply", 7)
    cache.add(("b", 1))
    assert not cache.add(("a", 1))
    cache.add(("c", 1))
    assert cache.add(("b", 1))
    assert cache.number_of(7) == 0  # `a` was next
