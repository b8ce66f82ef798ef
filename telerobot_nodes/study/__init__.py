"""The delay study: its tasks and conditions, its tables, and the study with people at the console."""
