"""Lists of the program: taken apart, searched, ordered and chosen from."""
