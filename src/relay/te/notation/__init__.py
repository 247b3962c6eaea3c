"""Schedules as people write them."""
