"""`dynamo bench --suite`: many programs under several backends, kept row by row, and held against bounds."""
