"""Claude Code as an agent, through its SDK."""
