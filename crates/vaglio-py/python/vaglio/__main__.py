"""The command line: ``python -m vaglio``, and the command ``vaglio``."""

import os
import sys

from vaglio import _vaglio


def main():
    """Run the program with the arguments of this process; return its exit code."""
    os.environ.setdefault("VAGLIO_PYTHON", sys.executable)
    return _vaglio.main(["vaglio", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
