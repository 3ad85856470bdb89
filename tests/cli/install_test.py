"""An installed carom runs by itself, finds its scenes by name, and lends its libraries to other projects."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["CAROM_BUILD_DIR"])


def cached(variable):
    found = re.search(rf"^{variable}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)
    return found.group(1) if found else ""


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
#include "host/state/frame.hpp"

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


if __name__ == "__main__":
    unittest.main()
