"""`dynamo guards`: under which conditions compiled code may be used again."""
