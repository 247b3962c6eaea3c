"""What passes are, what they run under, and what watches them."""
