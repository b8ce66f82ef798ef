"""Tasks: parameter files run by the executive in simulated contact, judged by the physics' own state."""
