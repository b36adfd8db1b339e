"""One panel for each brick."""
