"""What one begins with: an installed carom runs by itself and lends its libraries, and README.md's tour does what it says."""

import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

from program import BUILD, SOURCE, ProgramTest, cached

CONSUMER = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(carom REQUIRED)
add_executable(consumer consumer.cpp)
target_link_libraries(consumer PRIVATE carom::scene)
"""

CONSUMER_SOURCE = """
#include "carom_build_info.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"

#include <cstdio>

int main() {
    carom::Frame frame;
    (void)carom::state_hash(frame);
    std::puts(carom::build_info::kVersion);
}
"""


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.folder.name) / "prefix"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_program_finds_its_scenes_by_name(self):
        checked = subprocess.run([self.prefix / "bin/carom", "check", "two_balls"], cwd=self.folder.name,
                                 capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_program_is_hardened_where_it_is_optimised(self):
        def told(*options):
            return subprocess.run(["readelf", "-W", *options, self.prefix / "bin/carom"], check=True, capture_output=True,
                                  text=True, env=os.environ | {"LC_ALL": "C"}).stdout

        symbols = told("--dyn-syms")
        found = {
            "placed anywhere": re.search(r"Type: +DYN", told("-h")) is not None and "PIE" in told("-d"),
            "addresses read-only": "GNU_RELRO" in told("-l") and re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", told("-d")) is not None,
            "stack guarded": "__stack_chk_fail@" in symbols,
            "buffers guarded": re.search(r"__\w+_chk@", symbols) is not None,
        }
        if cached("CMAKE_BUILD_TYPE") in ("RelWithDebInfo", "Release") and not cached("CAROM_SANITIZE"):
            self.assertEqual([what for what, there in found.items() if not there], [])
        else:
            self.assertFalse(found["addresses read-only"])  # nobody asked for it, and the flags say where it is asked for

    def test_other_projects_link_its_libraries(self):
        consumer = pathlib.Path(self.folder.name) / "consumer"
        consumer.mkdir()
        (consumer / "CMakeLists.txt").write_text(CONSUMER)
        (consumer / "consumer.cpp").write_text(CONSUMER_SOURCE)
        sanitize = cached("CAROM_SANITIZE")
        flags = f"-fsanitize={sanitize}" if sanitize else ""
        for command in (["cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                         f"-DCMAKE_CXX_COMPILER={cached('CMAKE_CXX_COMPILER')}", f"-DCMAKE_CXX_FLAGS={flags}"],
                        ["cmake", "--build", "build"]):
            done = subprocess.run(command, cwd=consumer, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        printed = subprocess.run(consumer / "build/consumer", capture_output=True, text=True, check=True).stdout.strip()
        self.assertEqual(printed, cached("CMAKE_PROJECT_VERSION"))


def tour():
    """The commands, without what is said behind them."""
    text = (SOURCE / "README.md").read_text()
    section = text[text.index("## A tour"):text.index("## What is where")]
    lines = [line.split(" #")[0].strip() for line in section.splitlines() if line.startswith("    carom ")]
    return [command for line in lines for command in line.split(" && ")]


class Tour(ProgramTest):
    def test_every_command_works(self):
        (self.folder / "scenes").symlink_to(SOURCE / "scenes")
        commands = tour()
        self.assertGreater(len(commands), 5)
        without_opengl = "OpenGL      none in this build" in self.succeed("info").out
        for command in commands:
            if " run " in command:  # as they are, but short
                command = re.sub(r" --until \S+", "", command) + " --until 0.005"
            if " bench " in command:
                command += " --limit 5"
            if command.startswith("carom view "):  # tests/viewer opens windows, where there is a screen for them
                continue
            if command.startswith("carom render ") and without_opengl:
                continue
            with self.subTest(command):
                result = self.carom(*shlex.split(command)[1:])
                self.assertEqual(result.status, 0, result.err)


if __name__ == "__main__":
    unittest.main()
