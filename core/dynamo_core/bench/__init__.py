"""`dynamo bench`: run a program under several backends in turn, and compare the runs."""
