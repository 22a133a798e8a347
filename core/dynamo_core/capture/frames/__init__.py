"""Frames and the code they run: whose it is, its lines and names, and being asked about each frame."""
