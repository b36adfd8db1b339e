"""Whole sessions as text for elsewhere: to read as Markdown or HTML, to take over again as JSON."""
