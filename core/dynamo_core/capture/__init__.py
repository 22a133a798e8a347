"""The part that runs inside the user's program: probes on torch that write records.

It needs the standard library and torch only, because the program's environment may hold nothing else
of ours. It is dumb and cheap; whatever can be worked out later is left to the reader.
"""
