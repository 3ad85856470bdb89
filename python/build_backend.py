"""What pip asks for, so that `pip install .` needs nothing but CMake, a compiler and the libraries of the distribution: builds
the module by CMake, and puts what CMake installs of the component `python` into a wheel.

Settings: --config-settings=cmake="-DNAME=VALUE ...", --config-settings=build=FOLDER (a build that goes on).
"""

import base64
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def get_requires_for_build_wheel(config_settings=None):
    return []


def _metadata():
    """Name and version, and the text of METADATA."""
    version = re.search(r"VERSION ([0-9.]+)\n  DESCRIPTION", (ROOT / "CMakeLists.txt").read_text()).group(1)
    return version, (
        f"Metadata-Version: 2.1\nName: carom\nVersion: {version}\n"
        "Summary: Many-body simulator of balls: scenes, runs and results from Python\nLicense: MIT\n"
        "Requires-Python: >=3.11\nRequires-Dist: numpy>=1.24\nProvides-Extra: pandas\n"
        'Requires-Dist: pandas; extra == "pandas"\nDescription-Content-Type: text/markdown\n\n'
        + (ROOT / "docs/python.md").read_text())


def _build(folder, place, options):
    """The package in `place`, as CMake installs it."""
    generator = ["-G", "Ninja"] if not (folder / "CMakeCache.txt").exists() and _has("ninja") else []
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DCAROM_PYTHON=ON",
                    "-DCAROM_TESTS=OFF", "-DCAROM_VIEWER=OFF", f"-DPython_EXECUTABLE={sys.executable}",
                    "-DCAROM_PYTHON_INSTALL_DIR=.", *options], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "carom_python", "--parallel", str(os.cpu_count() or 1)],
                   check=True)
    subprocess.run(["cmake", "--install", folder, "--prefix", place, "--component", "python"], check=True)


def _has(program):
    return any(os.access(pathlib.Path(folder) / program, os.X_OK) for folder in os.get_exec_path())


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    settings = config_settings or {}
    version, metadata = _metadata()
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"
    name = f"carom-{version}-{tag}.whl"
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch) / "place"
        _build(pathlib.Path(settings.get("build", pathlib.Path(scratch) / "build")).absolute(), place,
               shlex.split(settings.get("cmake", "")))
        files = {path.relative_to(place).as_posix(): path.read_bytes()
                 for path in sorted(place.rglob("*")) if path.is_file()}
    info = f"carom-{version}.dist-info"
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: carom\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for path, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name
