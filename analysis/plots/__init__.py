"""Draws the results of a study, for `paceline plot` and for the Python module."""
