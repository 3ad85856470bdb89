"""scripts/gpu-check.sh from its first line to its last without a GPU: the emulated backend stands in for it."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import time
import unittest

from program import PROGRAM, SOURCE, ProgramTest, cached

BIN = pathlib.Path(PROGRAM).parent
REHEARSAL = BIN / "carom_rehearsal"

# The tests of a GPU need one; a few of the emulated backend's stand for them.
TESTS = """#!/bin/sh
case $1 in --gtest_filter=*cuda*) ;; *) echo "what is $1?" >&2; exit 9 ;; esac
unset CAROM_REQUIRE_GPU
exec {program} --gtest_filter='{some}' --gtest_brief=1
"""
SANITIZER = """#!/bin/sh
[ "$1 $3 $4" = "--tool --error-exitcode 9" ] || exit 8
shift 4
exec "$@"
"""
# The stand-in computes one scene wrongly, as a faulty GPU might.
FAULTY = """#!/bin/sh
case $* in *billiards*cuda*single*) set -- "$@" --set physics.gravity=[0.1,0.1] ;; esac
exec {program} "$@"
"""
# A GPU that answers once and never again, while the program waits for it whatever signal comes but SIGKILL.
HANGING = """#!/bin/sh
trap '' TERM
[ $1 != info ] || { echo '  GPU         one that hangs'; exit 0; }
while :; do sleep 1; done
"""
NVIDIA_SMI = "#!/bin/sh\necho a stand-in\n"


@unittest.skipUnless(REHEARSAL.exists(), "this build has no emulated backend: Thrust's headers were not found")
class GpuCheck(ProgramTest):
    def script(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def check(self):
        """Runs the script over a build whose GPU is emulated. Its exit status, what it printed, and its results by part."""
        build = self.folder / "build"
        self.script(build / "bin/carom", FAULTY.format(program=REHEARSAL))
        some = {"backends": "*ManyBalls.SameBits/2d_single_emulated",
                "golden": "*StateHash.IsTheCommittedOne/walls_*emulated",
                "viewer": "*hared*"}
        for kind, wanted in some.items():
            tests = BIN / f"carom_{kind}_tests"
            if tests.exists():
                self.script(build / "bin" / tests.name, TESTS.format(program=tests, some=wanted))
        return self.run_script(build, CAROM_CHECK_SECONDS="800")

    def run_script(self, build, **more):
        self.script(self.folder / "path/nvidia-smi", NVIDIA_SMI)
        self.script(self.folder / "path/compute-sanitizer", SANITIZER)
        environment = dict(os.environ, PATH=f"{self.folder}/path:{os.environ['PATH']}", CAROM_REHEARSAL="1", **more)
        done = subprocess.run([SOURCE / "scripts/gpu-check.sh", self.folder / "out", build], env=environment,
                              capture_output=True, text=True, timeout=860)
        parts = {}
        stored = self.folder / "out/gpu-check.json"
        for row in json.loads(stored.read_text())["results"] if stored.exists() else []:
            parts.setdefault(row["part"], {})[row["name"]] = row
        return done.returncode, done.stdout + done.stderr, parts

    def test_a_gpu_that_hangs_ends_in_time_with_what_was_not_run(self):
        build = self.folder / "build"
        self.script(build / "bin/carom", HANGING)
        for kind in ("backends", "golden", "viewer"):  # which are well, so that what had no time alone is not
            self.script(build / f"bin/carom_{kind}_tests", "#!/bin/sh\necho '[==========] 1 test from 1 test suite ran.'\n")
        begin = time.monotonic()
        status, text, parts = self.run_script(build, CAROM_CHECK_SECONDS="4")
        self.assertLess(time.monotonic() - begin, 100.0)
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"\n\d+ without a result, for want of time\n")
        self.assertNotIn("all well", text)
        self.assertTrue(all(row["ok"] for row in parts["tests"].values()), text)
        self.assertEqual(set(parts), {"tests", "bench", "hash", "viewer", "sanitizer", "ranks"})
        said = {row["remark"] for part, rows in parts.items() if part != "tests" for row in rows.values() if row["ok"] is None}
        self.assertLessEqual(said, {"stopped for time", "no time left", "no mpirun"})
        self.assertFalse([row for part, rows in parts.items() if part != "tests" for row in rows.values() if row["ok"] is not None])

    def test_a_gpu_that_carom_cannot_use_is_said_before_anything_else(self):
        build = self.folder / "build"
        why = "none: the driver is for CUDA 12.4, older than this build's 13.0"
        self.script(build / "bin/carom", f'#!/bin/sh\necho "  GPU         {why}"\n')
        status, text, parts = self.run_script(build)
        self.assertEqual((status, parts), (4, {}), text)
        self.assertIn(why, text)
        self.assertIn("carom finds none that it can use", text)

    def test_every_part_of_it_runs(self):
        status, text, parts = self.check()
        self.assertEqual(status, 1, text)
        # What depends on OpenGL is not the emulated GPU's to give: buffers that CUDA and OpenGL share.
        failed = [f"{part} {row['name']}: {row['remark']}" for part, rows in parts.items() for row in rows.values()
                  if row["ok"] is False and part != "viewer" and (part, row["name"]) != ("tests", "viewer")]
        self.assertEqual(len(failed), 1, failed)
        self.assertRegex(failed[0], "^hash billiards-single: cpu [0-9a-f]{16}, cuda [0-9a-f]{16}$")
        self.assertTrue(parts["tests"]["backends"]["ok"])
        self.assertTrue(parts["tests"]["golden"]["ok"])
        self.assertIn("viewer", parts)
        # Every scene is compared, but those with friction or rates of events, which the spring solver has not.
        scenes = {path.stem for path in (SOURCE / "scenes").glob("*.toml") if not path.stem.endswith(".sweep")}
        self.assertEqual({name.rsplit("-", 1)[0] for name in parts["hash"]}, scenes)
        left = {name.rsplit("-", 1)[0] for name, row in parts["hash"].items() if row["ok"] is None}
        self.assertEqual(left, {"hard_disks", "hard_spheres", "pin_deck", "spheres_oblique_friction"})
        measured = set(parts["bench"])
        for name in ("copy", "textbook 2D 4096 single", "spring 3D 4096 single", "spring 2D 8000 single",
                     "spring 3D 8000 single"):
            self.assertIn(name, measured)
        for dimension in (2, 3):
            self.assertTrue(parts["bench"][f"3 copies of 4096, {dimension}D"]["ok"])
        self.assertEqual(set(parts["sanitizer"]), {f"{tool} {dimension}D" for dimension in (2, 3)
                                                   for tool in ("memcheck", "racecheck", "initcheck")})
        self.assertTrue(all(row["ok"] for row in parts["sanitizer"].values()))
        self.assertEqual(set(parts["ranks"]), {"two ranks 2D", "two ranks 3D"})
        launched = shutil.which("mpirun") is not None and (BIN / "carom_mpi.so").exists() and cached("CAROM_SANITIZE") == ""
        for row in parts["ranks"].values():
            self.assertIn(row["ok"], {True} if launched else {True, None}, row)


if __name__ == "__main__":
    unittest.main()
