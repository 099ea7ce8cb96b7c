"""Notebooks of scripts with cells: ``python as_notebook.py`` writes ``tutorial.ipynb`` from ``tutorial.py``."""

import ast
import json
from pathlib import Path

HERE = Path(__file__).parent


def cells(script):
    """The cells of a script, each beginning at ``# %%``: whether it is code, and its text. What marks parts for the book is left
    out."""
    found = []
    for line in script.splitlines():
        if line.startswith("# %%"):
            found.append((not line.endswith("[markdown]"), []))
        elif not line.startswith("# ANCHOR"):
            is_code, lines = found[-1]
            lines.append(line if is_code else line.removeprefix("#").removeprefix(" "))
    return [(is_code, "\n".join(lines).strip()) for is_code, lines in found]


def notebook(script):
    """The text of the notebook."""
    made = []
    for number, (is_code, text) in enumerate(cells(script)):
        cell = {"cell_type": "code" if is_code else "markdown", "id": f"cell-{number}", "metadata": {}}
        cell |= {"execution_count": None, "outputs": []} if is_code else {}
        made.append(cell | {"source": text.splitlines(keepends=True)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    whole = {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def run(text):
    """Run the code of a notebook as a kernel would, cell by cell; give what each cell shows as its last value."""
    names, shown = {"__name__": "__main__"}, []
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]), cell["id"])
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, cell["id"], "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)
        shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else value)
    return shown


if __name__ == "__main__":
    (HERE / "tutorial.ipynb").write_text(notebook((HERE / "tutorial.py").read_text(encoding="utf-8")), encoding="utf-8")
