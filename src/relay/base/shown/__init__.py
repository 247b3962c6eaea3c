"""What people are shown: text at a prompt, elements of HTML and SVG."""
