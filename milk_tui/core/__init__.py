"""What a conversation is: pure values and functions. No I/O, no clock, no Textual."""
