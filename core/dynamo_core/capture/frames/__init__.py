"""Frames and their code: to whom it belongs, its lines and names, and a callback for each frame."""
