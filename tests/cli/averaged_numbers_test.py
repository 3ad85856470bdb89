"""Averages that are single numbers: in the summary, its JSON and the figures."""

import json
import unittest

import h5py
import numpy

from averages_test import GAS, NUMBERS
from program import ProgramTest


class AveragedNumbers(ProgramTest):
    def test_averages_without_an_error_are_among_the_warnings_at_the_end(self):
        # Ten balls far apart, and seldom looked at: hardly a contact is seen. The last one begins too late.
        self.write("thin.toml", """
            [scene]
            dimension = 2
            seed = 1
            [box]
            size = [40.0, 40.0]
            [run]
            until = 4.0
            [[fill]]
            radius = 0.5
            mass = 1.0
            count = 10
            temperature = 1.0
            [[observe]]
            name = "p"
            kind = "pressure"
            every = 0.2
            [[observe]]
            name = "late"
            kind = "kurtosis"
            every = 0.2
            from = 3.5
            """)
        warnings = ["p has no error: too few contacts were seen; shorten its observe.every, or run longer",
                    "late took 3 samples, too few for an error: shorten its observe.every, or run longer"]
        run = self.carom("run", "thin.toml", "--solver", "spring", "--json")
        self.assertEqual(run.json["warnings"], warnings)
        self.assertRegex(run.err, r"average p -?[0-9.]+, no error: too few contacts were seen\n")
        for warning in warnings:
            self.assertIn(f"warning: {warning}\n", run.err)
        # Hard contacts are counted one by one, however few.
        self.assertEqual(self.carom("run", "thin.toml", "--solver", "events", "--json", "--force").json["warnings"],
                         warnings[1:])

    def test_numbers_are_in_the_summary_with_errors_and_theory(self):
        scene = GAS.replace('["periodic", "wall"]', '["periodic", "periodic"]') % "events"
        # One kind of ball: a gas that has an equation of state.
        scene = scene.replace("count = 30", "count = 0").replace("count = 60", "count = 150").replace("6.0", "60.0")
        self.write("gas.toml", scene + "".join(
            f'\n[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\nfrom = 5.0\nevery = 0.1\n' for kind in NUMBERS))
        run = self.carom("run", "gas.toml", "--json")
        self.assertEqual(run.status, 0, run.err)
        found = run.json["averages"]
        names = [f"a_{kind}{part}" for kind in NUMBERS for part in ([".xx", ".yy", ".xy"] if kind.endswith("stress") else [""])]
        self.assertEqual(list(found), names)
        with h5py.File(self.folder / "gas.h5") as file:
            self.assertEqual(found, json.loads(file["parameters/summary"][()].decode())["averages"])
            for name in names:
                group = file["observables/" + name.split(".")[0]]
                values, errors = numpy.atleast_1d(group["value"][-1]), numpy.atleast_1d(group["error"][-1])
                k = (".xx", ".yy", ".xy").index(name[-3:]) if "." in name else 0
                self.assertEqual((found[name]["mean"], found[name]["error"]), (values[k], errors[k]))
                self.assertEqual(found[name]["samples"], group["samples"][-1])
                self.assertEqual(found[name]["kind"], group.attrs["kind"].decode())
                self.assertGreater(found[name]["error"], 0.0)
        units = {name: found[name]["unit"] for name in names}
        self.assertEqual(units["a_stress.xy"], "N m-1")
        self.assertEqual(units["a_kurtosis"], "")
        self.assertEqual(units["a_mean_free_path"], "m")
        told = {line.split()[1]: line for line in run.err.splitlines() if line.startswith("average ")}
        self.assertEqual(list(told), names)
        number = r"average \S+ -?\d+(\.\d+)?\(\d\)"
        for name, theory in (("a_kurtosis", "fixed energy, 3 D / \\(D \\+ 2\\)"), ("a_stress.xx", "equation of state"),
                             ("a_stress.xy", "none in a fluid at rest"), ("a_compressibility", "equation of state"),
                             ("a_mean_free_path", "Enskog"), ("a_collision_rate", "Enskog")):
            self.assertRegex(told[name], rf"\A{number}; theory \S+ \({theory}\), [+-]\d\.\d sigma\Z")
        self.assertEqual(told["a_temperature"], "average a_temperature 1", "of all balls it is the run's own, and known")

        # Each has a figure of how it settled, beside theory; names of rows stay those of rows.
        for name, holds in (("a_stress", ("xx", "yy", "xy", "equation of state", "none in a fluid at rest")),
                            ("a_kurtosis", ("measured", "fixed energy")), ("collision_rate", ("Enskog", "s\u207b\u00b9")),
                            ("a_temperature", ("average so far",))):
            self.succeed("plot", "gas.h5", name, "-o", "n.svg", "--force", "--quiet")
            text = (self.folder / "n.svg").read_text()
            for words in holds:
                self.assertIn(words, text)
        self.succeed("plot", "gas.h5", "temperature", "-o", "t.svg", "--quiet")
        self.assertNotIn("so far", (self.folder / "t.svg").read_text())
        self.succeed("plot", "gas.h5", "--all", "-o", "all/", "--quiet")
        drawn = {path.stem for path in (self.folder / "all").iterdir()}
        self.assertLessEqual({f"a_{kind}" for kind in NUMBERS}, drawn)
        other = self.carom("plot", "gas.h5", "nonsense")
        self.assertEqual(other.status, 2)
        self.assertIn("a_stress", other.err)

    def test_an_average_that_is_called_pressure_is_what_is_drawn(self):
        self.write("gas.toml", GAS % "events" + '[[observe]]\nname = "pressure"\nkind = "pressure"\n')
        self.succeed("run", "gas.toml", "--quiet")
        self.succeed("plot", "gas.h5", "pressure", "-o", "p.svg", "--quiet")
        self.assertIn("so far", (self.folder / "p.svg").read_text())
        self.succeed("plot", "gas.h5", "--all", "-o", "all/", "--quiet")
        self.assertIn("pressure.png", {path.name for path in (self.folder / "all").iterdir()})

    def test_an_average_that_is_a_curve_and_called_pressure_is_drawn_once(self):
        self.write("gas.toml", GAS % "events" + '[[observe]]\nname = "pressure"\nkind = "speed"\n')
        self.succeed("run", "gas.toml", "--quiet")
        said = self.succeed("plot", "gas.h5", "--all", "-o", "all/").err.splitlines()
        self.assertEqual(len([line for line in said if "pressure.png" in line]), 1, said)

    def test_short_runs_show_how_an_average_settled_from_the_first_sample_on(self):
        # Fewer samples than an error can be had from at all but the last frames.
        self.write("gas.toml", GAS % "events" + '[[observe]]\nname = "k"\nkind = "kurtosis"\nevery = 0.5\n')
        self.succeed("run", "gas.toml", "--quiet")
        self.succeed("plot", "gas.h5", "k", "-o", "k.svg", "--quiet")
        text = (self.folder / "k.svg").read_text()
        self.assertNotIn("href='#gpPt6'", text, "a curve, not the dot of the last frame")

    def test_runs_of_one_scene_are_told_apart_by_their_files(self):
        self.write("gas.toml", GAS % "events")
        for name in ("first", "second"):
            self.succeed("run", "gas.toml", "-o", f"{name}.h5", "--quiet")
        for quantity in ("temperature", "speed"):
            self.succeed("plot", "first.h5", "second.h5", quantity, "-o", f"{quantity}.svg", "--quiet")
            text = (self.folder / f"{quantity}.svg").read_text()
            self.assertIn(">first", text)
            self.assertIn(">second", text)
            self.assertNotIn(">averaged gas", text)


if __name__ == "__main__":
    unittest.main()
