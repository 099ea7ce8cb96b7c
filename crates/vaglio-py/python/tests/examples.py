"""Runs the examples in the documentation of the package."""

import doctest
import importlib
import pkgutil
import sys

import vaglio


def main():
    failed = tried = 0
    for module in pkgutil.iter_modules(vaglio.__path__, "vaglio."):
        if module.name.endswith(("__main__", "_vaglio")):
            continue
        outcome = doctest.testmod(importlib.import_module(module.name))
        failed, tried = failed + outcome.failed, tried + outcome.attempted
    outcome = doctest.testmod(vaglio)
    failed, tried = failed + outcome.failed, tried + outcome.attempted
    print(f"{tried} examples, {failed} failed")
    return 1 if failed or tried < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
