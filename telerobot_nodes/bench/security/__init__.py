"""The link under attack: what strangers, replays and altered datagrams reach, and what security costs."""
