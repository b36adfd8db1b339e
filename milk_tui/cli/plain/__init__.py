"""The chat line by line, with no boxes and nothing that moves: for screen readers, and for poor terminals."""
