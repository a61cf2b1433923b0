"""The command line: parse, call, print.

Laws: data goes to stdout, words to stderr; the exit code tells the class of an error; an expected error is one line.
"""

from libravdb_memory.cli.entry import daemon_main, main

__all__ = ["daemon_main", "main"]
