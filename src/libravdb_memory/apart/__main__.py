"""What a process of our own runs: `python -m libravdb_memory.apart PARENT`, with its messages on standard input and
output, for the process of that number."""

import sys

from libravdb_memory.apart.serving import main

main(int(sys.argv[1]))
