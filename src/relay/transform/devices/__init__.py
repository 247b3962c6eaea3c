"""Where values are."""
