"""The command line over the toy papers: `python -m tests.packages check --all`."""

import sys

from tests.packages import move_in
from widenet.cli import main

if __name__ == "__main__":
    move_in()
    sys.argv[0] = "widenet"
    main()
