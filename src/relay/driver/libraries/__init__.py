"""Libraries for C and C++: the export, and the headers that say what is in it."""
