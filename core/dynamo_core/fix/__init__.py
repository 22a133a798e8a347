"""`dynamo fix`: remedies tried on the program, and what is shown to cure."""
