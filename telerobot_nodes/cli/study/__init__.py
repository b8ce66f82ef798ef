"""`telerobot study`: the delay study with people at the console."""
