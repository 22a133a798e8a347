"""`dynamo breaks`: where graphs break, what that does, and what to do about it."""
