"""What nvcc makes of kernels/cuda, executed on the processor: the harness itself, and scenes on it beside the CPU backend."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["CAROM_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests/device"), str(SOURCE / "bench")]
import kernel_cost
import scenes

BUILD = pathlib.Path(os.environ["CAROM_BUILD_DIR"])
HERE = BUILD / "tests/device"
# A defect is found by how the device is guarded, or where every access is checked.
GUARDED = ["out-of-bounds", "freed", "hang", "misaligned", "trap", "pinned-too-early", "pinned-overwritten", "capture-malloc",
           "too-many-threads", "no-such-block"]
CHECKED = ["out-of-bounds", "just-out-of-bounds", "freed", "unwritten", "race", "shared-race", "cluster-race", "cluster-shared-race", "grid-race",
           "host-memory-to-kernel"]
# What a short trial has of all scenes; scripts/device-check.sh runs them all.
SHORT = ["walls, 2D", "gravity, damping, floor, 2D", "polydisperse, thermal, damped, 2D", "every observable, 2D", "thermal walls, 3D",
         "walls as shapes, 3D", "observables of species, 3D", "stages, 3D", "launches, 2D", "a fault at step 35, 2D", "open, 2D",
         "a crystal pressed together, 2D"]


def harness(arguments, **settings):
    modules = HERE / ("checked" if settings.get("CHECK") == "1" else "plain")
    environment = dict(os.environ, PTX_MODULES=str(modules), PTX_STRICT="1", **{"PTX_" + key: value for key, value in settings.items()})
    return subprocess.run([BUILD / "bin/carom_ptx_selftest", *arguments], env=environment, capture_output=True, text=True, timeout=300)


class Harness(unittest.TestCase):
    def test_instructions_warps_and_cub_are_as_on_the_host(self):
        for settings in ({}, {"ORDER": "reverse", "SCHEDULE": "eager"}, {"ORDER": "shuffled", "SCHEDULE": "random"}, {"CHECK": "1"}):
            with self.subTest(settings):
                done = harness([], **settings)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_kind_of_defect_is_found(self):
        for check, defects in (("0", GUARDED), ("1", CHECKED)):
            for defect in defects:
                with self.subTest(defect, check=check):
                    done = harness([defect], CHECK=check)
                    self.assertIn(done.returncode, (86, 87), done.stdout + done.stderr)

    def test_no_instruction_leaves_its_rounding_to_the_gpu(self):
        audits = [path for path in (HERE / "plain").glob("*.audit") if path.stem != "selftest"]
        self.assertGreater(len(audits), 4)
        for path in audits:
            self.assertEqual(path.read_text(), "", path)


class Scenes(unittest.TestCase):
    def compare(self, precision, scale, settings, names=SHORT, silent=(False, True)):
        chosen = [trial for trial in scenes.trials(BUILD, precisions=[precision], scale=scale)
                  if any(trial.name.startswith(name) for name in names) and trial.silent in silent]
        self.assertEqual(len(chosen), len(silent) * len(names))
        launches = settings.get("COOPERATIVE") == "0"  # and no crews: a step is a launch, and many are a graph
        played = 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for trial, (wrong, graphs) in zip(chosen, pool.map(lambda trial: trial.compare(settings, resume=False), chosen)):
                with self.subTest(trial.name):
                    self.assertEqual(wrong, [])
                    if launches and trial.silent and trial.steps is not None and trial.steps >= 100:
                        self.assertGreater(graphs, 0, "no graph was played")
                        played += 1
                    if not launches and trial.name.startswith("walls, 2D"):  # others may have no lists, and so no crew
                        self.assertEqual(graphs, 0, "no crew did the steps")
        if launches:
            self.assertGreater(played, 0, "no run was long enough for graphs")

    def test_single_precision_out_of_order_has_the_bits_of_the_cpu(self):
        self.compare("single", 0.1, {"ORDER": "shuffled", "SCHEDULE": "random", "SEED": "7", "PAGEABLE": "late", "POISON": "0"})

    def test_double_precision_late_has_the_bits_of_the_cpu(self):
        self.compare("double", 0.1, {"SCHEDULE": "lazy", "TIGHT": "1", "POISON": "0xff", "COOPERATIVE": "0"})

    def test_with_every_access_checked(self):
        self.compare("single", 0.05, {"CHECK": "1"}, silent=(False,))  # which has all kernels; those of graphs are below

    def test_launches_and_grids_with_every_access_checked(self):
        names = ("walls, 2D", "polydisperse, thermal, damped, 2D", "launches, 2D")
        self.compare("single", 0.1, {"CHECK": "1", "COOPERATIVE": "0"}, names)
        self.compare("single", 0.05, {"CHECK": "1", "CLUSTERS": "0"}, names[:2])  # the third has launches anyway
        # Of a grid as large as one multiprocessor holds each thread has several balls.
        self.compare("single", 0.1, {"CHECK": "1", "CLUSTERS": "0", "PROCESSORS": "1"}, ("3000 balls, 2D",))

    @unittest.skipUnless(shutil.which("mpirun") and (BUILD / "bin/carom_mpi.so").exists(), "no mpirun here, or built without MPI")
    def test_ranks_with_every_access_checked(self):
        names = ("open, 2D", "periodic, 3D", "polydisperse, thermal, damped, 2D", "walls as shapes, 3D")
        for trial in scenes.trials(BUILD, precisions=["single"], scale=0.05):
            if trial.name.startswith(names) and not trial.silent:
                with self.subTest(trial.name):
                    self.assertEqual(trial.shared({"CHECK": "1"}), [])

    def test_frames_come_where_no_memory_can_be_pinned_for_them(self):
        [trial] = [trial for trial in scenes.trials(BUILD, precisions=["single"], scale=0.1) if trial.name.startswith("walls, 2D") and not trial.silent]
        engines_own = {"PINNED": "2"}  # the record that the host sees, and sums
        self.assertEqual(trial.compare(engines_own, resume=False)[0], [])
        self.assertNotEqual(trial.compare({"PINNED": "1"}, resume=False)[0], [])


class Device(unittest.TestCase):
    def run_on(self, *arguments, **environment):
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([BUILD / "bin/carom_on_ptx", "run", "two_balls", "--steps", "100", "--quiet", "--backend", "cuda", *arguments, "-o",
                                   f"{folder}/a.h5"], env=dict(os.environ, PTX_MODULES=str(HERE / "plain"), **environment),
                                  capture_output=True, text=True, timeout=300)

    def test_a_gpu_is_chosen_by_its_number(self):
        self.assertEqual(self.run_on("--device", "0").returncode, 0)
        self.assertEqual(self.run_on("--device", "1", CUDA_VISIBLE_DEVICES="3,0").returncode, 0)

    def test_one_that_is_not_there_is_refused(self):
        for environment in ({}, {"CUDA_VISIBLE_DEVICES": "0"}, {"CUDA_VISIBLE_DEVICES": "0,5"}):
            done = self.run_on("--device", "1", **environment)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--device: no CUDA device 1; 'carom info' shows those that are there", done.stderr)
        self.assertEqual(self.run_on("--device", "x").returncode, 2)


class Cost(unittest.TestCase):
    def test_no_step_kernel_has_become_dearer(self):
        kept = json.loads((SOURCE / "bench/results/kernel_cost.json").read_text())
        # The same gases to the bit, so the same counts from the same code; another compiler makes somewhat other code.
        room = 1.05 if kept["compiler"] == kernel_cost.compiler(BUILD) else 1.15
        for name, before in kept["gases"].items():
            if "double" in name:
                continue  # scripts/kernel-cost.sh counts these
            now = kernel_cost.measure(BUILD, *kernel_cost.GASES[name], kept["balls"])
            for what in ("step", "sort", "all", "loads", "stores", "atomics", "bytes_read_per_ball", "bytes_written_per_ball",
                         "registers", "spill_bytes"):
                with self.subTest(name, what=what):
                    self.assertLessEqual(now[what], room * before[what])


if __name__ == "__main__":
    unittest.main()
