"""The package as a whole: its types, its tour, and what is written of them."""

import ast
import doctest
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import carom
from carom import _carom
from program import SOURCE


def test_types_are_right_and_strict(tmp_path):
    package = SOURCE / "python/carom"
    checked = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports",
                              f"--cache-dir={tmp_path}", str(package)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert (package / "py.typed").exists()


def test_the_stub_names_what_the_module_has():
    stub = ast.parse((SOURCE / "python/carom/_carom.pyi").read_text())
    classes = {one.name: {member.name if isinstance(member, ast.FunctionDef) else member.target.id
                          for member in one.body if isinstance(member, ast.FunctionDef | ast.AnnAssign)}
               for one in stub.body if isinstance(one, ast.ClassDef)}
    functions = {one.name for one in stub.body if isinstance(one, ast.FunctionDef)}
    there = {name for name in dir(_carom) if not name.startswith("__")}
    assert there == set(classes) | functions | {"version", "commit"}
    for name, members in classes.items():
        own = {member for member in vars(getattr(_carom, name)) if not member.startswith("__")}
        assert own - {"_pybind11_conduit_v1_"} == {member for member in members if not member.startswith("__")}, name


def test_the_tour_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (SOURCE / "docs/python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.S | re.M)
    assert len(blocks) >= 4
    tour = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/python.md", "docs/python.md", 0)
    assert len(tour.examples) >= 20
    said = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(tour, out=said.append)
    assert said == [], "".join(said)


def test_tables_become_data_frames(monkeypatch):
    class Pandas:
        DataFrame = dict

    monkeypatch.setitem(sys.modules, "pandas", Pandas)
    table = np.array([(0.0, [1.0, 2.0]), (0.5, [3.0, 4.0])], dtype=[("time", "f8"), ("momentum", "f8", (2,))])
    columns = carom.to_pandas(table)
    assert list(columns) == ["time", "momentum.0", "momentum.1"]
    assert list(columns["momentum.1"]) == [2.0, 4.0]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError):
        carom.to_pandas(table)


def test_it_can_be_installed(tmp_path):
    build = pathlib.Path(os.environ["CAROM_BUILD_DIR"])
    subprocess.run(["cmake", "--install", build, "--prefix", tmp_path, "--component", "python"], check=True,
                   capture_output=True)
    [place] = tmp_path.glob("lib/python3*/site-packages")
    script = "import carom; run = carom.Run('two_balls', until=0.1); run.advance(); print(carom.__file__, run.ended)"
    ran = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, cwd=tmp_path,
                         env={"PYTHONPATH": str(place)})
    assert (ran.stdout, ran.stderr) == (f"{place / 'carom/__init__.py'} True\n", "")
