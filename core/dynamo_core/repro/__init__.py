"""`dynamo repro`: a failing program, shrunk to a file that fails alone."""
