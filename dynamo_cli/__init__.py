"""The command line: it parses, calls, and turns errors into one line; nothing else."""
