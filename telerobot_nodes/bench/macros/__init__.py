"""Measurements of macros: learning, replay, binding, checks, changes while a primitive runs."""
