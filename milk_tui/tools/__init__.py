"""What the local agent may do on this machine."""
