"""Widgets that draw values and post messages; they know no conversation."""
