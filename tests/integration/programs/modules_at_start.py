"""Print which modules are loaded before a program's first line: only those can shadow its own."""

import sys

print(sorted(name for name in sys.modules if name.partition(".")[0] != "dynamo_core"))
