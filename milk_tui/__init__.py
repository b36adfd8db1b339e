"""milk-tui: a terminal chat with a local model that hands hard tasks to Claude Code."""
