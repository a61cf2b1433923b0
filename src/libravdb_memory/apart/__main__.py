"""What a process of our own runs: `python -m libravdb_memory.apart`, with its messages on standard input and output."""

from libravdb_memory.apart.serving import main

main()
