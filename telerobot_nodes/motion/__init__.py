"""Generalized compliant motion with sensor fusion [GCMSF]."""
