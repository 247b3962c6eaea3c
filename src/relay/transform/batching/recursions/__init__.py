"""Recursions whose calls can be taken by levels, and the parts of their form: what AutoBatch finds in a program."""
