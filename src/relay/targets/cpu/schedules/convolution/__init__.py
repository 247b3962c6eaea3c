"""Schedules of convolutions."""
