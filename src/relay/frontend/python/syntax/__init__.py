"""What the syntax of a function tells, before any of it is read as a program."""
