"""Graphs as drawings: what is drawn of one, and where each box and arrow goes; nothing of how it looks."""
