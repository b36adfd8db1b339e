"""The only room that knows Textual."""
