"""Libraries that take seconds to compile reach few files: CLI11 one, the others those that read or write with them. Counted
are the .cpp files from which an include leads there, itself or through headers of ours; a folder
that is not named may have none."""

import collections
import os
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["CAROM_SOURCE_DIR"])
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)

# library -> (the headers that are it, folder -> how many .cpp files of it may see it)
LIBRARIES = {
    "CLI11": (re.compile(r"CLI/"), {"host/cli": 1}),
    "toml++": (re.compile(r"toml\+\+/"), {"host/scene": 6, "host/sweep": 1}),
    "JSON": (re.compile(r"nlohmann/(?!json_fwd)"), {
        "host/bench": 4, "host/cli": 2, "host/compare": 1, "host/plot": 2, "host/report": 1, "host/run": 4,
        "host/sweep": 2, "tests/fuzz": 1, "tests/golden": 7, "tests/physics": 6, "tests/unit": 3}),
    "HDF5": (re.compile(r"hdf5|H5\w*\.h"), {"host/cli": 1, "host/io": 9, "tests/fuzz": 1, "tests/unit": 1}),
    "pybind11": (re.compile(r"pybind11/"), {"python": 3}),
}


def files_that_see(root, headers):
    """Folder -> its .cpp files from which an include leads to one of the headers."""
    includes = {}

    def sees(name, above=()):
        if name not in includes:
            includes[name] = None  # a cycle sees nothing more
            path = root / name
            found = INCLUDE.findall(path.read_text()) if path.is_file() else []
            includes[name] = any(headers.match(other) or
                                 (other.startswith(("host/", "kernels/", "python/", "tests/")) and sees(other))
                                 for other in found)
        return includes[name]

    seen = collections.defaultdict(list)
    for top in ("kernels", "host", "python", "tests"):
        for path in sorted((root / top).rglob("*.cpp")):
            name = path.relative_to(root).as_posix()
            if sees(name):
                seen["/".join(name.split("/")[:-1][:2])].append(name)
    return seen


def too_many(root, headers, allowed):
    """One sentence for each folder in which more files than allowed see the headers."""
    return [f"{folder}: {len(names)} files see it, allowed are {allowed.get(folder, 0)}: {', '.join(names)}"
            for folder, names in files_that_see(root, headers).items() if len(names) > allowed.get(folder, 0)]


class HeavyHeaders(unittest.TestCase):
    def test_reach_no_more_files_than_they_must(self):
        for library, (headers, allowed) in LIBRARIES.items():
            with self.subTest(library):
                self.assertEqual(too_many(ROOT, headers, allowed), [])

    def test_are_found_behind_other_headers(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"host/a/one.hpp": "#include <CLI/App.hpp>\n", "host/a/two.hpp": '#include "host/a/one.hpp"\n',
                               "host/a/x.cpp": '#include "host/a/two.hpp"\n', "host/a/y.cpp": "#include <vector>\n"}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            headers = LIBRARIES["CLI11"][0]
            self.assertEqual(dict(files_that_see(root, headers)), {"host/a": ["host/a/x.cpp"]})
            self.assertEqual(too_many(root, headers, {"host/a": 1}), [])
            self.assertIn("host/a: 1 files see it", too_many(root, headers, {})[0])


if __name__ == "__main__":
    unittest.main()
