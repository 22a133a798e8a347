"""Compile a program that does not compile for itself: which frames, with what bounds, and unnoticed."""
