"""`dynamo fix`: tries the remedies of findings on the program, and keeps those that are shown to cure."""
