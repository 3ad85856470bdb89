"""`carom run`: what it prints and leaves behind, and that how one looks at a run never changes it."""

import os
import pty
import re
import resource
import signal
import subprocess
import time
import unittest

import h5py
import numpy

from program import GAS, PROGRAM, ProgramTest, cached

KEYS = ["time", "steps", "balls", "wall_seconds", "ball_steps_per_second", "backend", "device", "threads", "precision",
        "energy_kinetic", "energy_total", "energy_drift", "momentum", "max_overlap", "balls_left", "state_hash",
        "frames", "rows", "output", "checkpoint", "sorts"]

TWO_BALLS = """
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
[spring]
stiffness = 1.0e3
dt = 1.0e-3
[run]
until = 1.0
[[ball]]
radius = 0.5
mass = 1.0
position = [2.0, 5.0]
velocity = [2.0, 0.0]
[[ball]]
radius = 0.5
mass = 1.0
position = [4.0, 5.0]
"""

# Far too soft for their speed: the balls go into each other.
THROUGH = TWO_BALLS.replace("stiffness = 1.0e3\ndt = 1.0e-3", "stiffness = 1.0\ndt = 1.0e-2").replace(
    "velocity = [2.0, 0.0]", "velocity = [4.0, 0.0]")

# Far too stiff for its step: the balls fly apart.
BLOW_UP = TWO_BALLS.replace("stiffness = 1.0e3", "stiffness = 1.0e9").replace("[4.0, 5.0]", "[4.0011, 5.0]")


class Run(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("gas.toml", GAS)

    def test_json_is_one_line_with_every_promised_key(self):
        result = self.succeed("run", "gas.toml", "--json")
        self.assertEqual(result.out.count("\n"), 1)
        summary = result.json
        for key in KEYS:
            self.assertIn(key, summary)
        self.assertEqual(summary["steps"], 500)
        self.assertAlmostEqual(summary["time"], 0.5)
        self.assertEqual(summary["balls"], 200)
        self.assertEqual(summary["frames"], 6)
        self.assertEqual(summary["rows"], 11)
        self.assertEqual(len(summary["momentum"]), 2)
        self.assertRegex(summary["state_hash"], r"\A[0-9a-f]{16}\Z")
        self.assertEqual(summary["output"], "gas.h5")
        self.assertEqual(summary["checkpoint"], "gas.checkpoint.h5")
        self.assertLess(abs(summary["energy_drift"]), 1e-2)

    def test_without_json_standard_output_is_empty_and_the_summaries_are_plain(self):
        result = self.succeed("run", "gas.toml")
        self.assertEqual(result.out, "")
        self.assertIn("200 balls", result.err)
        self.assertIn("packing fraction", result.err)
        self.assertIn("gas.h5", result.err)
        self.assertNotIn("\x1b", result.err)
        self.assertNotIn("\r", result.err)

    def test_quiet_says_nothing(self):
        result = self.succeed("run", "gas.toml", "--quiet")
        self.assertEqual(result.out + result.err, "")

    def test_a_terminal_gets_a_bar_that_is_taken_away_at_the_end(self):
        ours, its = pty.openpty()
        # A run without an end, stopped once the bar has been seen: how fast the machine is does not matter.
        process = subprocess.Popen([PROGRAM, "run", "gas.toml", "--until", "1e6", "--set", "output.every=0"],
                                   cwd=self.folder, stdin=subprocess.DEVNULL, stdout=its, stderr=its)
        os.close(its)
        seen = b""
        bar = re.compile(rb"\r *\d+ % \[=*>? *\]  t = ")
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            not_yet = bar.search(seen) is None
            seen += part
            if not_yet and bar.search(seen):
                process.send_signal(signal.SIGINT)
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 130)
        self.assertRegex(seen, bar)
        # The bar is gone before the last words are said.
        self.assertRegex(seen[seen.rindex(b"\r\x1b[K"):], rb"interrupted at t = ")

    def test_nothing_is_overwritten_without_force(self):
        self.succeed("run", "gas.toml", "--quiet")
        before = (self.folder / "gas.h5").read_bytes()
        self.assertEqual(self.carom("run", "gas.toml").status, 2)
        self.assertEqual((self.folder / "gas.h5").read_bytes(), before)
        self.succeed("run", "gas.toml", "--quiet", "--force", "--seed", "8")
        self.assertNotEqual((self.folder / "gas.h5").read_bytes(), before)

    def test_steps_and_until_mean_the_same_time(self):
        a = self.run_json("gas.toml", "-o", "a.h5", "--steps", "123")
        b = self.run_json("gas.toml", "-o", "b.h5", "--until", "0.123")
        self.assertEqual(a["steps"], 123)
        self.assertEqual(a["state_hash"], b["state_hash"])

    def test_a_rescaling_beyond_the_scenes_end_is_at_its_time_however_the_end_is_given(self):
        self.write("r.toml", "[scene]\ndimension = 2\n[box]\nsize = [20.0, 20.0]\n[spring]\ndt = 0.0001\n[run]\nuntil = 0.1\n[thermostat]\n"
                   'kind = "rescale"\ntemperature = 4.0\nevery = 0.5\n[[fill]]\nradius = 0.3\nmass = 1.0\ncount = 20\ntemperature = 1.0\n')
        results = [self.run_json("r.toml", "--force", *end) for end in (("--until", "0.3"), ("--steps", "3000"))]
        self.assertEqual([result["heat"] for result in results], [0.0, 0.0])
        self.assertEqual(results[0]["state_hash"], results[1]["state_hash"])
        self.run_json("r.toml", "--force", "--set", "thermostat.every=1e300")

    def test_how_often_one_looks_changes_nothing(self):
        hashes = {self.run_json("gas.toml", "-o", f"{k}.h5", "--set", f"output.every={every}", "--set",
                                f"output.observables_every={rows}", "--checkpoint-every", checkpoints)["state_hash"]
                  for k, (every, rows, checkpoints) in enumerate([(0, 0, 1), (0.1, 0.01, 0.2), (0.0007, 0.03, 0.07)])}
        self.assertEqual(len(hashes), 1)

    def test_threads_change_nothing(self):
        hashes = {self.run_json("gas.toml", "-o", f"{n}.h5", "--threads", n)["state_hash"] for n in (1, 2, 3)}
        self.assertEqual(len(hashes), 1)

    def test_waiting_threads_spin_briefly_unless_the_user_says_otherwise(self):
        def spins(**said):
            kept = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
            result = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True,
                                    env={**kept, "OMP_DISPLAY_ENV": "verbose", **said})
            found = re.search(r"GOMP_SPINCOUNT = '(\d+)'", result.stderr)  # of g++'s library alone
            return int(found.group(1)) if found else None

        if spins() is not None:
            self.assertEqual(spins(), 1000)
            self.assertEqual(spins(GOMP_SPINCOUNT="77"), 77)
            self.assertEqual(spins(OMP_WAIT_POLICY="passive"), 0)

    def test_frames_and_rows_are_where_the_summary_says(self):
        summary = self.run_json("gas.toml", "--set", "output.every=0.07", "--set", "output.observables_every=0.03")
        with h5py.File(self.folder / "gas.h5") as file:
            times = file["particles/all/position/time"][...]
            rows = file["observables/total_energy/time"][...]
        self.assertEqual(len(times), summary["frames"])
        self.assertEqual(len(rows), summary["rows"])
        numpy.testing.assert_allclose(times, [0, .07, .14, .21, .28, .35, .42, .49, .5], atol=5e-4)
        self.assertEqual(rows[0], 0.0)
        self.assertAlmostEqual(rows[-1], 0.5)

    def test_every_zero_keeps_the_first_and_the_last_frame(self):
        self.assertEqual(self.run_json("gas.toml", "--set", "output.every=0")["frames"], 2)

    def test_a_tiny_scene_is_done_in_a_tenth_of_a_second(self):
        self.write("two.toml", TWO_BALLS)
        took = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            begin = time.monotonic()
            self.succeed("run", "two.toml", "--force", "--steps", "1")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            # Of a processor, so that it does not matter who else wants one; and nowhere does it wait for long.
            took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            self.assertLess(time.monotonic() - begin, 10.0)
        self.assertLess(min(took), 0.1)

    def test_a_new_run_takes_the_balls_of_an_old_state(self):
        text = GAS.replace("[run]", "[run]\nsolver = \"SOLVER\"")
        for solver in ["spring", "events"]:
            self.write("old.toml", text.replace("SOLVER", solver))
            self.run_json("old.toml", "--force")
            changes = ["--set", "physics.gravity=[0,-1]", "--set", "physics.restitution=0.9"]
            result = self.succeed("run", "--resume", "old.checkpoint.h5", *changes, "-o", "new.h5", "--until", "0.2",
                                  "--force")
            history = "balls of old.checkpoint.h5 at t = 0.5, with physics.gravity=[0,-1] physics.restitution=0.9"
            self.assertIn(f"started from: {history}\n", result.err)
            self.assertIn("from t = 0 to 0.2", result.err)
            before = self.succeed("state", "old.h5", "--last", "--csv").out.splitlines()
            after = self.succeed("state", "new.h5", "--frame", "0", "--csv").out.splitlines()
            if solver == "events":
                self.assertEqual(before, after)
            header = before[0].split(",")
            for column in ["x", "y", "vx", "vy"]:
                at = header.index(column)
                for old, new in zip(before[1:], after[1:]):
                    self.assertAlmostEqual(float(old.split(",")[at]), float(new.split(",")[at]), delta=1e-5)
            with h5py.File(self.folder / "new.h5") as file:
                self.assertIn(history, file["parameters/scene"][()].decode())
                self.assertEqual(file["particles/all/position/time"][0], 0.0)
            # It is a run like any other, and goes on to the same bits.
            whole = self.run_json("--resume", "old.checkpoint.h5", *changes, "-o", "whole.h5", "--until", "0.4", "--force")
            rest = self.run_json("--resume", "new.checkpoint.h5", "-o", "rest.h5", "--until", "0.4", "--force")
            self.assertEqual(whole["state_hash"], rest["state_hash"])
            # And what its physics did: of two runs from one state the one with gravity has fallen.
            self.assertNotEqual(whole["momentum"][1], self.run_json(
                "--resume", "old.checkpoint.h5", "-o", "same.h5", "--until", "0.9", "--force")["momentum"][1])

    def test_a_new_run_has_the_balls_of_the_old_one(self):
        self.run_json("gas.toml")
        for change in ["fill[0].count=3", "scene.dimension=3", "box.size=[9,9]", "species[0].mass=2"]:
            result = self.carom("run", "--resume", "gas.checkpoint.h5", "--set", change, "-o", "new.h5")
            self.assertEqual(result.status, 2)
            self.assertTrue(result.err.startswith(f"carom: --resume: {change.split('=')[0]} cannot be changed, for the balls "
                                                  "are those of gas.checkpoint.h5; allowed: keys of physics, "), result.err)
        self.assertNotIn("new.h5", self.files())

    def test_a_run_that_cannot_go_on_keeps_what_it_has(self):
        self.write("bad.toml", BLOW_UP)
        result = self.carom("run", "bad.toml", "--json", "--force")
        self.assertEqual(result.status, 3)
        message = result.err.strip().splitlines()[-1]
        self.assertRegex(message, r"^carom: .*time .*ball [01].*bad\.h5.*bad\.checkpoint\.h5")
        self.assertEqual(result.json["exit_status"], 3)
        self.assertIn("ball", result.json["error"])
        with h5py.File(self.folder / "bad.h5") as file:
            self.assertEqual(len(file["particles/all/position/time"]), result.json["frames"])
            self.assertAlmostEqual(file["particles/all/position/time"][-1], result.json["time"])
        self.assertTrue((self.folder / "bad.checkpoint.h5").exists())

    def test_a_state_that_no_run_goes_on_from_becomes_no_checkpoint(self):
        self.write("soft.toml", THROUGH)
        result = self.carom("run", "soft.toml", "--json")
        self.assertEqual(result.status, 3)
        self.assertTrue(result.err.strip().endswith("in soft.h5, no checkpoint, since no run goes on from there"),
                        result.err)
        self.assertIsNone(result.json["checkpoint"])
        self.assertNotIn("soft.checkpoint.h5", self.files())
        end = self.carom("run", "soft.toml", "--until", result.json["time"], "--force")
        self.assertEqual(end.status, 0)
        self.assertIn("no checkpoint, since no run goes on from there", end.err)
        # Each step leaves one, but for the last.
        before = self.carom("run", "soft.toml", "--json", "--force", "--checkpoint-every", "0.01")
        self.assertEqual(before.status, 3)
        self.assertRegex(before.err, r"checkpoint of t = [0-9.]+ in soft\.checkpoint\.h5, since no run goes on from there")
        again = self.carom("run", "--resume", "soft.checkpoint.h5", "--json", "-o", "on.h5")
        self.assertEqual(again.status, 3)
        self.assertEqual((again.json["time"], again.json["error"]), (before.json["time"], before.json["error"]))
        # From hardly any overlap to that in one step.
        self.write("fast.toml", TWO_BALLS.replace("dt = 1.0e-3", "dt = 1.0e-2").replace("[2.0, 0.0]", "[40.0, 0.0]").replace(
            "position = [4.0, 5.0]", "position = [6.9, 5.0]\nvelocity = [-40.0, 0.0]"))
        self.assertEqual(self.carom("run", "fast.toml", "--checkpoint-every", "0.01").status, 3)
        again = self.carom("run", "--resume", "fast.checkpoint.h5", "--json", "-o", "on.h5", "--force")
        self.assertEqual(again.status, 3, again.err)

    @unittest.skipIf(cached("CAROM_SANITIZE") == "thread", "the limit cuts a file of the sanitizer's own")
    def test_energies_beside_a_ball_of_far_more_mass_are_those_of_the_others(self):
        scene = '''
scene = { dimension = 2 }
box = { size = [40.0, 40.0], boundary = "wall" }
run = { until = 1e-6 }
output = { every = 5e-7, observables_every = 5e-7 }
[[ball]]
radius = 2.0
mass = %s
position = [20.0, 20.0]
[[fill]]
radius = 0.5
mass = 1.0
count = 200
temperature = 1.0
'''
        for mass in ("1e4", "1e10", "1e11"):
            for precision in ("single", "double"):
                with self.subTest(mass=mass, precision=precision):
                    self.write("heavy.toml", scene % mass)
                    self.succeed("run", "heavy.toml", "-o", "h.h5", "--force", "--quiet", "--precision", precision)
                    with h5py.File(self.folder / "h.h5") as file:
                        velocity = file["particles/all/velocity/value"][-1, 1:]
                        row = file["observables/kinetic_energy/value"][-1]
                    self.assertAlmostEqual(row / (0.5 * (velocity**2).sum()), 1.0, delta=1e-6)
        bath = "[thermostat]\nkind = 'andersen'\nrate = 1.0\ntemperature = 1.0\n"
        for text, what in ((scene % "1e20", "energies"), (scene % "1e9" + bath, "heat")):
            self.write("heavy.toml", text)
            refused = self.carom("run", "heavy.toml", "-o", "h.h5", "--force")
            self.assertEqual(refused.status, 2, refused.err)
            self.assertIn(f"the masses of balls differ so much that the {what}", refused.err)

    def test_spin_goes_with_the_balls_that_leave(self):
        self.write("s.toml", """
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
boundary = ["open", "wall"]
[run]
until = 30.0
backend = "cpu"
[output]
every = 10.0
observables_every = 10.0
[[species]]
name = "a"
radius = 0.5
mass = 1.0
[[ball]]
species = "a"
position = [5.0, 2.0]
velocity = [0.8, 0.0]
spin = 3.0
[[ball]]
species = "a"
position = [5.0, 7.0]
velocity = [0.3, 0.0]
spin = -1.0
[[ball]]
species = "a"
position = [5.0, 5.0]
spin = 2.0
""")
        left = {}
        for solver in ("spring", "events"):
            self.succeed("run", "s.toml", "--solver", solver, "--until", "15", "--quiet", "-o", "part.h5", "--force")
            self.succeed("run", "--resume", "part.checkpoint.h5", "--until", "30", "--quiet", "-o", "rest.h5", "--force")
            self.succeed("run", "s.toml", "--solver", solver, "--quiet", "-o", "whole.h5", "--force")
            def rows(name, wanted):
                with h5py.File(self.folder / name) as file:
                    return [file[f"observables/{key}/value"][wanted] for key in ("rotational_energy", "angular_momentum")]
            left[solver] = rows("whole.h5", slice(None))
            for whole, rest in zip(rows("whole.h5", -1), rows("rest.h5", -1)):
                self.assertEqual(whole.tolist(), rest.tolist())
        inertia = 0.5 * 0.5**2  # of a disk of mass 1
        numpy.testing.assert_allclose(left["spring"][0], [7.0 * inertia, 2.5 * inertia, 2.0 * inertia, 2.0 * inertia])
        numpy.testing.assert_allclose(left["spring"][0], left["events"][0])
        numpy.testing.assert_allclose(left["spring"][1], left["events"][1], atol=1e-5)  # single precision

    def test_a_full_disk_is_status_4_and_says_what_was_kept(self):
        limit = 400_000  # bytes in any one file

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        result = self.carom("run", "gas.toml", "--set", "output.every=0.001", "--json", preexec_fn=small_files)
        self.assertEqual(result.status, 4, result.err)
        self.assertRegex(result.err.strip().splitlines()[-1], r"^carom: .*gas\.h5.*")
        self.assertNotIn("HDF5", result.err)  # the library's own words are for programmers
        with h5py.File(self.folder / "gas.h5") as file:
            self.assertGreaterEqual(len(file["particles/all/position/time"]), result.json["frames"])
        self.assertGreater(result.json["frames"], 2)

    def test_observe_counts_balls_that_have_moved(self):
        self.write("pins.toml", TWO_BALLS + """
[[species]]
name = "pin"
radius = 0.25
mass = 1.0
[[ball]]
species = "pin"
position = [7.0, 8.0]
[[ball]]
species = "pin"
position = [5.5, 5.0]
[[observe]]
name = "pinfall"
kind = "displaced"
species = "pin"
threshold = 1.0e-9
""")
        self.succeed("run", "pins.toml", "--quiet", "--until", "2")
        with h5py.File(self.folder / "pins.h5") as file:
            counts = file["observables/pinfall/value"][...]
        self.assertEqual(counts[0], 0)
        self.assertEqual(counts[-1], 1)

    def test_a_resting_ball_that_is_rounded_to_beyond_a_face_has_not_moved(self):
        self.write("rest.toml", """
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
boundary = "periodic"
[run]
until = 0.1
[[ball]]
radius = 0.5
mass = 1.0
position = [9.9999999999999, 3.3]
[[observe]]
name = "moved"
kind = "displaced_each"
""")
        self.succeed("run", "rest.toml", "--quiet", "--solver", "spring", "--precision", "single", "-o", "rest.h5")
        with h5py.File(self.folder / "rest.h5") as file:
            self.assertFalse(file["observables/moved/value"][...].any())


class Resume(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("gas.toml", GAS)
        self.whole = self.run_json("gas.toml", "-o", "whole.h5")

    def frames_of(self, name):
        with h5py.File(self.folder / name) as file:
            group = file["particles/all"]
            return {int(step): group["position/value"][k].tobytes() + group["velocity/value"][k].tobytes()
                    for k, step in enumerate(group["position/step"][...])}

    def test_a_resumed_run_has_the_bits_of_one_that_never_stopped(self):
        self.run_json("gas.toml", "-o", "part.h5", "--until", "0.21", "--set", "output.every=0.1")
        rest = self.run_json("--resume", "part.checkpoint.h5", "--until", "0.5")
        self.assertEqual(rest["output"], "part-2.h5")
        self.assertEqual(rest["first_step"], 210)
        self.assertEqual(rest["state_hash"], self.whole["state_hash"])
        whole, part, second = map(self.frames_of, ["whole.h5", "part.h5", "part-2.h5"])
        self.assertEqual(sorted(part), [0, 100, 200, 210])
        self.assertEqual(sorted(second), [210, 300, 400, 500])
        for step, bits in whole.items():
            self.assertEqual({**part, **second}[step], bits, step)

    def test_blanks_around_a_key_are_none_of_it(self):
        self.run_json("gas.toml", "-o", "part.h5", "--until", "0.2")
        rest = self.run_json("--resume", "part.checkpoint.h5", "--set", " run.until = 0.5 ")
        self.assertEqual((rest["first_step"], rest["state_hash"]), (200, self.whole["state_hash"]))

    def test_it_may_be_resumed_again_and_with_other_threads(self):
        self.run_json("gas.toml", "-o", "a.h5", "--until", "0.1", "--threads", "2")
        self.run_json("--resume", "a.checkpoint.h5", "--until", "0.3", "--threads", "1")
        last = self.run_json("--resume", "a-2.checkpoint.h5", "--until", "0.5", "--threads", "2")
        self.assertEqual(last["output"], "a-3.h5")
        self.assertEqual(last["state_hash"], self.whole["state_hash"])

    def test_every_checkpoint_of_a_run_will_do(self):
        self.run_json("gas.toml", "-o", "b.h5", "--checkpoint", "c.h5", "--checkpoint-every", "0.4", "--until", "0.45")
        with_last = self.run_json("--resume", "c.h5", "-o", "d.h5", "--until", "0.5")
        self.assertEqual(with_last["state_hash"], self.whole["state_hash"])

    def test_tallies_go_on(self):
        self.run_json("gas.toml", "-o", "e.h5", "--until", "0.2")
        rest = self.run_json("--resume", "e.checkpoint.h5", "--until", "0.5")
        self.assertEqual(rest["max_overlap"], self.whole["max_overlap"])

    def test_a_trajectory_alone_repeats_the_run(self):
        with h5py.File(self.folder / "whole.h5") as file:
            text = next(value for value in self.texts(file["parameters"]) if "[[fill]]" in value)
        self.write("again.toml", text)
        self.assertEqual(self.run_json("again.toml")["state_hash"], self.whole["state_hash"])

    def texts(self, group):
        for value in list(group.attrs.values()) + [d[()] for d in group.values() if isinstance(d, h5py.Dataset)]:
            if isinstance(value, bytes):
                yield value.decode()
            elif isinstance(value, str):
                yield value


if __name__ == "__main__":
    unittest.main()
