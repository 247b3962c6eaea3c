"""Measuring beside other libraries."""
