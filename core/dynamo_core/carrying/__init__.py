"""Carry recordings to where all can read them (S3, GCS, …), in a process of its own beside the program."""
