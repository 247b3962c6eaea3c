"""What models mean that is several operators here."""
