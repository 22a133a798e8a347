"""Shared by the launcher, the observed process and the reader: record types, settings, texts; no torch."""
