"""`dynamo check`: the facts of a program that may not get worse unnoticed, and where they are kept."""
