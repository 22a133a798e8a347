"""What a report is made of, and how that looks on a terminal, in a pipe and as markdown."""
