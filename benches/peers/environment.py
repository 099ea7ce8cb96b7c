"""The peers' own environment: a virtual environment of Python, and a library of R where R is there."""
import json
import re
import shutil
import subprocess
import sys
import urllib.request
import venv
from pathlib import Path

NEEDED = ["numpy", "pyarrow"]
PACKAGES = {
    "scikit-learn": "sklearn",
    "mlxtend": "mlxtend.feature_selection",
    "abess": "abess.linear",
    # OKRidge imports it and does not ask for it.
    "requests": "requests",
    "okridge": "okridge.tree",
    "fastcan": "fastcan",
    "pyHSICLasso": "pyHSICLasso",
    "reservoirpy": "reservoirpy.nodes",
    "RLScore": "rlscore.learner",
}
ARCHIVES = {
    "RLScore": "https://github.com/aatapa/RLScore/archive/refs/heads/master.zip",
    "lmSubsets": "https://github.com/cran/lmSubsets/archive/refs/heads/master.tar.gz",
}
CRAN = "https://cloud.r-project.org"


class Environment:
    """What is installed in `folder`: versions by package, or why one is not there."""

    def __init__(self, folder, sources=None, install_r=False):
        self.folder, self.sources, self.install_r = Path(folder), sources, install_r
        self.python = self.folder / "bin" / "python"
        self.r_library = self.folder / "r"
        self.versions, self.missing = {}, {}

    def make(self, tell):
        """Installs what is not installed. Only NumPy and pyarrow must be there."""
        if not self.python.exists():
            tell(f"making {self.folder}")
            venv.create(self.folder, with_pip=True)
        known = self.folder / "tried.json"
        tried = json.loads(known.read_text()) if known.exists() else {}
        for name in NEEDED:
            if not self.imports(name):
                why = self.pip(name)
                if why:
                    sys.exit(f"{name} cannot be installed, without which there are no data: {why}")
        for name, module in PACKAGES.items():
            why = None
            if not self.imports(module):
                if name not in tried or self.source(name):
                    tell(f"installing {name}")
                    tried[name] = self.install(name, module)
                why = tried[name]
            if why:
                self.missing[name] = why
        if not self.r_version():
            if "lmSubsets" not in tried or self.source("lmSubsets") or self.install_r:
                tell("installing lmSubsets")
                tried["lmSubsets"] = self.install_lm_subsets()
            if tried["lmSubsets"]:
                self.missing["lmSubsets"] = tried["lmSubsets"]
        known.write_text(json.dumps({k: v for k, v in tried.items() if v}, indent=1))
        listed = self.call(self.python, "-m", "pip", "list", "--format", "json").stdout
        found = {entry["name"].lower(): entry["version"] for entry in json.loads(listed.strip().splitlines()[-1])}
        asked = [n for n in [*NEEDED, *PACKAGES] if n != "requests"]
        self.versions = {n: found[n.lower()] for n in asked if n.lower() in found and n not in self.missing}
        if self.r_version():
            self.versions["lmSubsets"] = self.r_version()
        for name, why in self.missing.items():
            tell(f"{name} is not installed: {why}")

    def source(self, name):
        """The folder of the sources that were given for a package."""
        return self.sources and (Path(self.sources) / name).is_dir() and Path(self.sources) / name

    def call(self, *command):
        return subprocess.run([str(c) for c in command], capture_output=True, text=True)

    def imports(self, module):
        return self.call(self.python, "-c", f"import {module}").returncode == 0

    def pip(self, *what):
        """Installs; what pip says where it fails."""
        done = self.call(self.python, "-m", "pip", "install", "--quiet", *what)
        return None if done.returncode == 0 else reason(done.stderr + done.stdout)

    def install(self, name, module):
        """From the sources that were given, from the index, or from the archive of the repository."""
        first = None
        for origin in filter(None, [self.source(name), name, ARCHIVES.get(name)]):
            why = self.pip(origin)
            if not why and self.imports(module):
                return None
            first = first or why or reason(self.call(self.python, "-c", f"import {module}").stderr)
        return first

    def r_version(self):
        """The version of lmSubsets, where R and it are there."""
        if not shutil.which("Rscript"):
            return None
        code = f'cat(as.character(packageVersion("lmSubsets", lib.loc = "{self.r_library}")))'
        found = self.call("Rscript", "-e", code)
        return found.stdout.strip() if found.returncode == 0 else None

    def install_lm_subsets(self):
        if not shutil.which("Rscript"):
            if not self.install_r:
                return "no Rscript; --install-r tries apt-get"
            done = self.call("apt-get", "install", "--yes", "--quiet", "r-base-core", "r-base-dev")
            if done.returncode != 0:
                return reason(done.stderr)
        self.r_library.mkdir(exist_ok=True)
        if not self.source("lmSubsets"):
            install = f'install.packages("lmSubsets", lib = "{self.r_library}", repos = "{CRAN}")'
            done = self.call("Rscript", "-e", install)
            if self.r_version():
                return None
            first = reason(done.stderr)
        else:
            first = None
        origin = self.source("lmSubsets") or self.downloaded("lmSubsets")
        if origin:
            done = self.call("R", "CMD", "INSTALL", "-l", self.r_library, origin)
            if self.r_version():
                return None
            first = first or reason(done.stderr)
        return first or "its sources cannot be fetched"

    def downloaded(self, name):
        """The archive of a repository, unpacked; None where it cannot be had."""
        path = self.folder / f"{name}.tar.gz"
        try:
            with urllib.request.urlopen(ARCHIVES[name], timeout=60) as answer:
                path.write_bytes(answer.read())
            shutil.unpack_archive(path, self.folder / "sources")
        except (OSError, shutil.ReadError):
            return None
        folders = [p for p in (self.folder / "sources").iterdir() if p.name.startswith(name)]
        return folders[0] if folders else None


def reason(text):
    """The line of an installer that says most, without addresses and paths."""
    lines = [line.strip(" │╰─>") for line in text.splitlines()]
    signs = ["No module named", "fatal error", "Error:", "cannot open", "not available", "ERROR"]
    telling = [line for sign in signs for line in lines if sign in line]
    line = (telling or [line for line in reversed(lines) if line] or ["no reason was given"])[0]
    return re.sub(r"'?(https?:|/)\S+", "…", line.removeprefix("ERROR: "))[:160]
