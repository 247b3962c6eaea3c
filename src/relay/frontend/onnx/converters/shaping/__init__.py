"""Converters of what makes, orders and moves elements."""
