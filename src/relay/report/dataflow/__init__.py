"""The data flow of programs as drawings: read into diagrams, arranged, drawn, and put on a page."""
