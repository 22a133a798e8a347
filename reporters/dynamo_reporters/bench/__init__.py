"""`dynamo bench`: a program under several backends."""
