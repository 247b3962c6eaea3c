"""Places that change: names, parts of what they are worth, and the lists and arrays that methods change."""
