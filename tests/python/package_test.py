"""The package as a whole: its types, its tour, and what is written of them."""

import ast
import base64
import doctest
import hashlib
import importlib
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import zipfile

import matplotlib
import matplotlib.pyplot
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


def test_docstrings_do_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [path.stem for path in (SOURCE / "python/carom").glob("*.py") if path.stem != "__init__"]
    examples = 0
    for name in names:
        module = importlib.import_module(f"carom.{name}")
        for tried in doctest.DocTestFinder(exclude_empty=True).find(module, globs=dict(vars(module))):
            said = []
            examples += len(tried.examples)
            doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(tried, out=said.append)
            assert said == [], "".join(said)
    assert examples >= 15


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
    own = table.view(carom.Table)
    assert list(own.to_pandas()) == list(own[:1].to_pandas()) == list(columns)
    assert type(own["momentum"]) is type(own.to_pandas()["momentum.1"]) is np.ndarray
    run = carom.Run("two_balls", until=0.01)
    run.advance()
    assert run.rows.to_pandas()["time"].tolist() == run.rows["time"].tolist()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError):
        carom.to_pandas(table)


def test_it_can_be_installed(tmp_path):
    build = pathlib.Path(os.environ["CAROM_BUILD_DIR"])
    subprocess.run(["cmake", "--install", build, "--prefix", tmp_path, "--component", "python"], check=True,
                   capture_output=True)
    [place] = tmp_path.glob("lib/python3*/site-packages")
    script = "import carom; run = carom.Run('two_balls', until=0.1); run.advance(); print(carom.__file__, run.ended)"
    sanitizer = {name: os.environ[name] for name in ("LD_PRELOAD", "ASAN_OPTIONS") if name in os.environ}
    ran = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, cwd=tmp_path,
                         env=sanitizer | {"PYTHONPATH": str(place)})
    assert (ran.stdout, ran.stderr) == (f"{place / 'carom/__init__.py'} True\n", "")


# What an example came to, by the names that it leaves.
EXAMPLES = {
    "barometric_law": lambda left: abs(left["heights"].mean() - 10.0) < 1.5,  # 300 disks of a width: a little higher
    "billiard_chaos": lambda left: left["apart"][0] < 2e-12 and left["apart"][-1] > 1e-3,
    "brownian_ball": lambda left: left["msd"][99] > 10.0 * left["msd"][9],
    "equation_of_state": lambda left: np.allclose(
        left["table"]["compressibility"], (1 + left["fractions"]**2 / 8) / (1 - left["fractions"])**2, rtol=0.03),
    "own_observable": lambda left: abs(left["mean"]["mean"] - 0.5) < 0.05 and left["run"].rows["mixed"][0] == 0.0,
    "parameter_scan": lambda left: (np.diff(left["mean"]) > 0.0).all() and abs(left["mean"][-1] - 1.0) < 1e-9,
}


def test_every_example_is_here():
    assert {path.stem for path in (SOURCE / "python/examples").glob("*.py")} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_draws_what_it_says(name, tmp_path, monkeypatch):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    left = runpy.run_path(str(SOURCE / f"python/examples/{name}.py"))
    matplotlib.pyplot.close("all")
    assert EXAMPLES[name](left)
    assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


def test_a_wheel_holds_what_cmake_installs(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(SOURCE / "python"))
    import build_backend

    def install(folder, place, options):
        assert options == ["-DA=b c"]
        subprocess.run(["cmake", "--install", os.environ["CAROM_BUILD_DIR"], "--prefix", tmp_path / "prefix", "--component",
                        "python"], check=True, capture_output=True)
        [packages] = (tmp_path / "prefix").glob("lib/python3*/site-packages")
        shutil.copytree(packages, place)

    monkeypatch.setattr(build_backend, "_build", install)
    assert build_backend.get_requires_for_build_wheel() == []
    name = build_backend.build_wheel(str(tmp_path), {"cmake": "'-DA=b c'"})
    with zipfile.ZipFile(tmp_path / name) as wheel:
        files = {one: wheel.read(one) for one in wheel.namelist()}
    [record] = [one for one in files if one.endswith("dist-info/RECORD")]
    listed = dict(line.split(",", 1) for line in files[record].decode().splitlines())
    assert set(listed) == set(files)
    for one, data in files.items():
        if one != record:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert listed[one] == f"sha256={digest},{len(data)}"
    assert f"Version: {carom.__version__}" in files[record.replace("RECORD", "METADATA")].decode().splitlines()
    assert {"carom/__init__.py", "carom/py.typed", "carom/_carom.pyi", "carom/scenes/gas2d.toml"} < set(files)
    assert any(one.startswith("carom/_carom.cpython") for one in files)
