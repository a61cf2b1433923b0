"""`python -m libravdb_memory` is the command line."""

import sys

from libravdb_memory.cli import main

sys.exit(main())
