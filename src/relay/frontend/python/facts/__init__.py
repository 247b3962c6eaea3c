"""What is known of values while a program is read."""
