"""Writes type stubs for the part modules: ``python -m vaglio._stubs FOLDER``."""

import sys
from pathlib import Path

from vaglio import _parts

HEAD = '"""Types of the parts, made by ``python -m vaglio._stubs``."""\n\nfrom typing import Any\n\nfrom vaglio._parts import Part\n'
WORDS = {
    "whole number": "int",
    "number": "float",
    "text": "str",
    "true | false": "bool",
    "null": "None",
}


def annotation(kind):
    """Type annotation of a field, if simple.

    >>> annotation("whole number | null"), annotation("none | swaps")
    ('int | None', 'Any')
    """
    words = [WORDS.get(word) for word in kind.split(" | ")]
    return " | ".join(words) if all(words) else "Any"


def stub(role):
    """Stub of a role's module."""
    text = HEAD
    for part in sorted((part for part in _parts.parts() if part["role"] == role), key=lambda part: part["kind"]):
        text += f"\nclass {_parts.class_name(part['kind'])}(Part):\n"
        fields = sorted(part["fields"], key=lambda field: not field["required"])
        for field in fields:
            text += f"    {_parts.python_name(field['name'])}: {annotation(field['type'])}\n"
        arguments = "".join(f"        {argument(field)},\n" for field in fields)
        text += f"    def __init__(\n        self,\n{arguments}    ) -> None: ...\n"
    return text


def argument(field):
    """A field as an argument."""
    default = "" if field["required"] else " = ..."
    return f"{_parts.python_name(field['name'])}: {annotation(field['type'])}{default}"


def main(folder):
    """Write all stubs."""
    for role, module in _parts.MODULES.items():
        Path(folder, f"{module}.pyi").write_text(stub(role), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
