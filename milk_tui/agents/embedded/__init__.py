"""The local agent on the built-in model, which runs in a child process."""
