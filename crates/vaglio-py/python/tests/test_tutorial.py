"""The tutorial of the book runs as it stands, as a script and as a notebook."""

import re
import runpy
from pathlib import Path

import as_notebook
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[3]


@pytest.mark.skipif(not (ROOT / "examples" / "data").is_dir(), reason="a source distribution holds no examples")
def test_the_tutorial_prints_what_it_finds(capsys, monkeypatch):
    monkeypatch.chdir(HERE)
    runpy.run_path(str(HERE / "tutorial.py"))
    said = capsys.readouterr().out
    assert "bmi" in said and "R²" in said and "clinic=south" in said and len(said.splitlines()) > 10, said
    monkeypatch.chdir(HERE)
    shown = as_notebook.run((HERE / "tutorial.ipynb").read_text(encoding="utf-8"))
    # The temporary folders of runs differ.
    same = [re.sub(r"vaglio-run-\w+", "", text) for text in (capsys.readouterr().out, said)]
    assert same[0] == same[1]
    assert any("<iframe" in str(value) for value in shown)


def test_the_notebook_is_made_of_the_script():
    script = (HERE / "tutorial.py").read_text(encoding="utf-8")
    written = (HERE / "tutorial.ipynb").read_text(encoding="utf-8")
    assert written == as_notebook.notebook(script), "make it anew: python as_notebook.py"
    code = "\n".join(text for is_code, text in as_notebook.cells(script) if is_code)
    assert "ANCHOR" not in written and "pipeline.run()" in code
    assert [text[:2] for is_code, text in as_notebook.cells(script) if not is_code][:2] == ["# ", "##"]
