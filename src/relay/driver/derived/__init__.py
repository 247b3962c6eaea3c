"""Programs made of programs: derivatives, many instances at once, known arguments."""
