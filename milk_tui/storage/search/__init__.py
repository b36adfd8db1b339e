"""Looking for words in all that was said: an index beside the sessions, which may be deleted at any time."""
