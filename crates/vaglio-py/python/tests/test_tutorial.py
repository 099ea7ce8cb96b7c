"""The tutorial of the book runs as it stands."""

import os
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]


@pytest.mark.skipif(not (ROOT / "examples" / "data").is_dir(), reason="a source distribution holds no examples")
def test_the_tutorial_prints_what_it_finds(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(Path(__file__).with_name("tutorial.py")))
    said = capsys.readouterr().out
    assert "bmi" in said and "R²" in said and len(said.splitlines()) > 10, said
