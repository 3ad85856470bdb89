"""`carom compare`: what it says, in text, JSON and figures, and with which exit status."""

import json
import os
import signal
import time
import unittest

from program import GAS, SOURCE, ProgramTest

SCENE = SOURCE / "scenes" / "two_balls.toml"


class Compare(ProgramTest):
    def compare_json(self, *arguments, status=0):
        result = self.carom("compare", *arguments, "--json", "--quiet")
        self.assertEqual(result.status, status, result.err)
        self.assertEqual(result.err, "")
        return result.json

    def check(self, found, section, name):
        return next(check for check in found[section]["checks"] if check["name"] == name)

    def test_two_balls_are_good_in_every_respect(self):
        found = self.compare_json(SCENE)
        self.assertTrue(found["good"])
        self.assertIn("identical", self.check(found, "bits", "bits")["words"])
        self.assertAlmostEqual(self.check(found, "convergence", "order")["order"], 0.5, delta=0.01)
        limit = self.check(found, "convergence", "limit")
        self.assertLess(limit["position_extrapolated"], 1e-3 * limit["position_at_k"])
        self.assertGreater(limit["position_at_k"], 1e-4)
        self.assertTrue(found["convergence"]["rows"])
        self.assertEqual(found["statistics"]["checks"], [])
        self.assertEqual(self.files(), [])

    def test_the_text_says_what_the_object_says(self):
        text = self.succeed("compare", SCENE).out
        found = self.compare_json(SCENE)
        flat = " ".join(text.split())
        for section in ("bits", "convergence", "statistics"):
            for check in found[section]["checks"]:
                self.assertIn(" ".join(check["words"].split()), flat)
        self.assertIn("6 checks, all good", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_names_of_any_bytes_are_shown_and_are_text_in_the_object(self):
        for name, shown, text in ((b"b\xff.toml", "b\\xff.toml", "b\ufffd.toml"),
                                  (b"\x1b[31mred.toml", "\\x1b[31mred.toml", "\x1b[31mred.toml")):
            (self.folder / os.fsdecode(name)).write_bytes(SCENE.read_bytes())
            self.assertTrue(self.succeed("compare", os.fsdecode(name)).out.startswith(shown), shown)
            self.assertEqual(self.compare_json(os.fsdecode(name))["scene"], text)

    def test_one_thread_has_nothing_to_be_held_against(self):
        said = self.carom("compare", "two_balls", "--threads", "1", "--backend", "cpu").out
        self.assertIn("two at least are needed", said)

    def test_a_step_too_long_is_found_and_is_exit_status_3(self):
        found = self.compare_json(SCENE, "--set", "spring.dt=2e-3", status=3)
        self.assertFalse(found["good"])
        self.assertEqual(self.check(found, "convergence", "time step")["verdict"], "bad")
        self.assertRegex(self.carom("compare", SCENE, "--set", "spring.dt=2e-3").out, r"\d of \d checks BAD")

    def test_a_small_gas_has_statistics_and_a_page_of_figures(self):
        self.write("gas.toml", GAS)
        arguments = ["gas.toml", "--set", "box.boundary=['periodic','periodic']", "--set", "spring.dt='auto'",
                     "--set", "spring.stiffness='auto'", "-o", "proof.png"]
        found = self.compare_json(*arguments)
        self.assertTrue(found["good"], found)
        self.assertEqual(self.check(found, "statistics", "speeds")["verdict"], "good")
        self.assertTrue(found["statistics"]["displacement"])
        self.assertEqual(found["figure"], "proof.png")
        picture = (self.folder / "proof.png").read_bytes()
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(len(picture), 20000)

    def test_what_exists_is_kept_without_force(self):
        self.write("proof.svg", "mine")
        result = self.carom("compare", SCENE, "-o", "proof.svg")
        self.assertEqual(result.status, 2)
        self.assertRegex(result.err, r"\Acarom: .*proof\.svg.*--force.*\n\Z")
        self.assertEqual((self.folder / "proof.svg").read_text(), "mine")
        self.succeed("compare", SCENE, "-o", "proof.svg", "--force")
        self.assertIn("<svg", (self.folder / "proof.svg").read_text())

    def test_what_was_found_is_printed_where_it_cannot_be_drawn(self):
        result = self.carom("compare", SCENE, "--json", "--quiet", "-o", "proof.png", env={"PATH": ""})
        self.assertEqual(result.status, 4)
        self.assertRegex(result.err, r"\Acarom: figures are drawn by gnuplot, which is not installed.*\n\Z")
        self.assertTrue(result.json["good"])
        self.assertIsNone(result.json["figure"])

    def test_bad_input_is_one_line_and_nothing_is_written(self):
        for arguments, says in [
            ([], r"no scene given; see carom compare --help"),
            ([SCENE, "-o", "proof.gif"], r"proof\.gif: figures end in"),
            ([SCENE, "--solver", "events"], r"unknown option --solver"),
            ([SCENE, "--set", "physics.friction=0.1"], r"physics\.friction"),
            ([SCENE, "--set", "physics.friction=0.1", "--set", "run.solver='events'"], r"friction.*compares the rest"),
            ([SOURCE / "scenes" / "piston.toml"],
             r"piston\.toml: wall\[0\]\.velocity drives the balls; .*leave out wall temperatures, wall velocities"),
            ([SCENE, "--set", "box.wall_temperature=[1.0,1.0]", "--set", "thermostat.kind='andersen'", "--set",
              "thermostat.temperature=1.0", "--set", "thermostat.rate=1.0"],
             r"box\.wall_temperature, thermostat\.kind drive the balls"),
            (["nowhere.toml"], r"nowhere\.toml"),
        ]:
            with self.subTest(arguments):
                result = self.carom("compare", *arguments)
                self.assertEqual(result.status, 4 if "nowhere.toml" in arguments else 2, result.err)
                self.assertRegex(result.err, rf"\Acarom: .*{says}.*\n\Z")
                self.assertEqual(result.out, "")
                self.assertEqual(self.files(), [])

    def test_it_can_be_interrupted(self):
        running = self.start("compare", SOURCE / "scenes" / "gas2d.toml", "--quiet", "-o", "proof.png")
        time.sleep(2.0)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, said)
        self.assertIn("interrupted", said)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
