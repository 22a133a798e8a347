"""Stands for the reader's package in the documentation's examples."""
