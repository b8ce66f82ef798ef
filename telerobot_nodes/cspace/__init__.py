"""Configuration-space planner and force field [US5347459]."""
