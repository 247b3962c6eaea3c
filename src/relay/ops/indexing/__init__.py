"""Operators that read and write where indices tell."""
