"""What survives: configuration, sessions, locks."""
