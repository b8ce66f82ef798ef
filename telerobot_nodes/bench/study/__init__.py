"""The delay study: a scripted operator at the real queue, link and executor, with and without the controls."""
