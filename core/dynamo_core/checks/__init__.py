"""What is asked for is checked before a program runs: backends, overrides, files."""
