"""`python -m widenet` is the command line."""

from widenet.cli import main

if __name__ == "__main__":
    main()
