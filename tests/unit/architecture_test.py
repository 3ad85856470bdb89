"""The cut of the project holds: who includes whom is what docs/architecture.md says."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["CAROM_SOURCE_DIR"])
SOURCE_ENDINGS = {".hpp", ".cpp", ".h", ".cuh", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
TOPS = ("kernels", "host", "python")
GENERATED = "carom_build_info.hpp"
CUDA_HEADER = re.compile(r"cuda|thrust/|cub/|cooperative_groups")


def read_arrows(page):
    """Folder -> set of folders whose files it may include, from the page's block marked `arrows`."""
    block = re.search(r"^```arrows\n(.*?)^```", page, re.S | re.M).group(1)
    arrows = {}
    for line in block.splitlines():
        folder, targets = line.split("->")
        arrows[folder.strip()] = set(targets.split())
    return arrows


def folder_of(path):
    """The name that docs/architecture.md gives to the place of a file, from its path below the top."""
    parts = pathlib.PurePosixPath(path).parts
    if parts == (GENERATED,):
        return "build_info"
    if len(parts) == 2 and parts[0] == "kernels":
        return "kernels/spring_step"
    return parts[0] if parts[0] == "python" else "/".join(parts[:2])


def includes_of(path):
    """(line number, 'file' or <file>) for each include."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1), found.group(2)


def violations(root, arrows):
    """One sentence for each include or file that the cut forbids."""
    found = []
    doors = {}  # headers of kernels/cuda included from elsewhere -> where
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SOURCE_ENDINGS:
                continue
            name = path.relative_to(root).as_posix()
            folder = folder_of(name)
            if folder not in arrows:
                found.append(f"{name}: the folder {folder} is not in docs/architecture.md")
                continue
            for number, bracket, included in includes_of(path):
                ours = included.split("/")[0] in TOPS or included == GENERATED
                if bracket == '"' and not ours:
                    found.append(f'{name}:{number}: "{included}" is not written from the top of the repository')
                if not ours:
                    continue
                target = folder_of(included)
                if target != folder and target not in arrows[folder]:
                    found.append(f"{name}:{number}: {folder} may not include {included}")
                if target == "kernels/cuda" and folder != target:
                    doors.setdefault(included, f"{name}:{number}")
    if len(doors) > 1:
        found.append("more than one header of kernels/cuda is included from outside: " + ", ".join(
            f"{header} ({where})" for header, where in sorted(doors.items())))
    for header in doors:
        found += cuda_includes(root, header, set())
    for path in sorted(root.rglob("*.cu")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(("kernels/cuda/", "tests/device/", "build/")):
            found.append(f"{name}: .cu files belong in kernels/cuda, or tests/device")
    return found


def cuda_includes(root, header, seen):
    """Headers of CUDA that a header of ours reaches, itself or through others of ours."""
    seen.add(header)
    path = root / header
    if not path.exists():
        return []
    found = []
    for number, _, included in includes_of(path):
        if included.split("/")[0] in TOPS:
            if included not in seen:
                found += cuda_includes(root, included, seen)
        elif CUDA_HEADER.search(included):
            found.append(f"{header}:{number}: {included} would reach code that is compiled without the toolkit")
    return found


class TheCut(unittest.TestCase):
    def setUp(self):
        self.page = (ROOT / "docs/architecture.md").read_text()
        self.arrows = read_arrows(self.page)

    def test_includes_follow_the_arrows(self):
        self.assertEqual(violations(ROOT, self.arrows), [])

    def test_arrows_form_no_cycle(self):
        done = set()

        def visit(folder, above):
            self.assertNotIn(folder, above, "a cycle of arrows")
            if folder not in done:
                for target in self.arrows.get(folder, ()):
                    visit(target, above + [folder])
                done.add(folder)

        for folder in self.arrows:
            visit(folder, [])

    def test_every_top_level_folder_is_documented(self):
        listed = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True)
        if listed.returncode == 0:
            tops = {line.split("/")[0] for line in listed.stdout.splitlines() if "/" in line}
        else:  # an unpacked archive
            tops = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"build", "dist"}
        missing = [top for top in tops if not top.startswith(".") and not re.search(rf"`{top}[`/]", self.page)]
        self.assertEqual(missing, [])


class TheCheckItself(unittest.TestCase):
    """Each kind of violation, planted in a small tree, is found."""

    ARROWS = {"kernels/core": set(), "kernels/physics": {"kernels/core"}, "kernels/cuda": {"kernels/core"},
              "host/backends": {"kernels/cuda"}, "python": set()}

    def found(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return "\n".join(violations(root, self.ARROWS))

    def test_allows_what_is_allowed(self):
        self.assertEqual(self.found({"kernels/physics/a.hpp": '#include "kernels/core/b.hpp"\n#include <cmath>\n',
                                     "kernels/cuda/k.cu": "#include <thrust/sort.h>\n",
                                     "host/backends/c.cpp": '#include "kernels/cuda/plain.hpp"\n'}), "")

    def test_finds_a_forbidden_arrow(self):
        self.assertIn("kernels/core may not include", self.found(
            {"kernels/core/a.hpp": '#include "kernels/physics/b.hpp"\n'}))

    def test_finds_a_forbidden_arrow_in_angle_brackets(self):
        self.assertIn("kernels/core may not include", self.found(
            {"kernels/core/a.hpp": "#  include <kernels/physics/b.hpp>\n"}))

    def test_finds_a_forbidden_arrow_to_and_from_python(self):
        found = self.found({"python/a.cpp": '#include "kernels/core/b.hpp"\n#include "python/c.hpp"\n',
                            "kernels/core/d.hpp": '#include "python/c.hpp"\n'})
        self.assertIn("python may not include kernels/core/b.hpp", found)
        self.assertIn("kernels/core may not include python/c.hpp", found)
        self.assertNotIn("python may not include python", found)

    def test_finds_an_unknown_folder(self):
        self.assertIn("not in docs/architecture.md", self.found({"host/new/a.cpp": ""}))

    def test_finds_an_include_relative_to_its_file(self):
        self.assertIn("not written from the top", self.found({"kernels/core/a.hpp": '#include "../physics/b.hpp"\n'}))

    def test_finds_a_cu_file_elsewhere(self):
        self.assertIn(".cu files belong", self.found({"tests/unit/a.cu": ""}))

    def test_finds_a_second_door_to_cuda(self):
        self.assertIn("more than one header", self.found(
            {"host/backends/a.cpp": '#include "kernels/cuda/x.hpp"\n#include "kernels/cuda/y.hpp"\n'}))

    def test_finds_cuda_behind_the_door(self):
        self.assertIn("compiled without the toolkit", self.found(
            {"host/backends/a.cpp": '#include "kernels/cuda/x.hpp"\n',
             "kernels/cuda/x.hpp": '#include "kernels/core/y.hpp"\n',
             "kernels/core/y.hpp": "#include <cuda_runtime.h>\n"}))


if __name__ == "__main__":
    unittest.main()
