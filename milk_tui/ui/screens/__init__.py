"""Whole screens: the only places where the conversation and widgets meet."""
