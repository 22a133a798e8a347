"""`dynamo bench --suite`: many programs under several backends."""
