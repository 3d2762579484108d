"""The command line over the toy rooms: `python -m tests.rooms check --all`."""

import sys

from tests.rooms import move_in
from widenet.cli import main

if __name__ == "__main__":
    move_in()
    sys.argv[0] = "widenet"
    main()
