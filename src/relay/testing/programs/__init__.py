"""Models that are programs (recurrence, recursion, data types), written in Python source and read by the front end."""
