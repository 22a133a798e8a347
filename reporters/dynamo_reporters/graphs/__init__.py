"""`dynamo graphs`: FX graphs as tables, code, dot and programs, at every stage."""
