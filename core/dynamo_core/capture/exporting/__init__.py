"""`dynamo export`: torch.export is tried on the modules that a program calls, in copies of its process."""
