"""Operators of detection: boxes chosen by score."""
