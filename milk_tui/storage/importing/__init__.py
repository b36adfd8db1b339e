"""Sessions of other programs, read from their files and stored as our own."""
