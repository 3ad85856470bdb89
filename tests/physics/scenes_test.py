"""Every scene of scenes/, as a newcomer runs it: nothing that is said of it differs from theory, and nothing is called
equilibrated that is not. Without --full, the scenes that take long are smaller or end early; with it, as scenes/ have them, and with
--seeds N for seeds 1 to N too.
"""

import math
import random
import sys
import unittest

import guide

# Of these some seconds each: what they are here. Verdicts by temperature and pressure alone called the first two different.
SHORTER = {
    "gas2d": ["--set", "fill[0].count=10000", "--set", "box.size=[132.2, 132.2]"],
    "atmosphere": ["--set", "fill[0].count=1000", "--set", "box.size=[25.0, 400.0]",
                   "--set", "fill[0].region.max=[25.0, 80.0]"],
    "gas3d": ["--until", "0.3"],
    "mixture": ["--until", "6.0"],
    "sound": ["--until", "500.0"],
}

GAS = """
[scene]
dimension = 2
seed = 1
[box]
size = [%s, 20.0]
boundary = ["wall", "periodic"]
[run]
solver = "events"
until = %s
[output]
every = 0.5
observables_every = 0.1
[[species]]
name = "red"
radius = 0.3
mass = 1.0
[[species]]
name = "blue"
radius = 0.3
mass = 1.0
[[fill]]
species = "red"
count = 150
region = { min = [0.0, 0.0], max = [%s, 20.0] }
temperature = 1.0
[[fill]]
species = "blue"
count = 150
region = { min = [%s, 0.0], max = [%s, 20.0] }
temperature = 1.0
"""


class Scenes(guide.GuideTest):
    full = False
    seeds = 1

    def test_no_scene_differs_from_theory(self):
        agree = 0
        for path in sorted(guide.SCENES.glob("*.toml")):
            if path.name.endswith(".sweep.toml"):
                continue
            for seed in range(1, self.seeds + 1):
                with self.subTest(scene=path.stem, seed=seed):
                    options = () if self.seeds == 1 else ("--seed", str(seed))
                    if not self.full:
                        options += tuple(SHORTER.get(path.stem, ()))
                    self.run_scene(path.stem, *options)
                    for what, row in self.theory(path.stem).items():
                        self.assertNotEqual(row[1], "differs", row)
                        if row[1] == "agrees":
                            agree += 1
                            self.assertRegex(row[3], r"\A[\d.]+(e-\d+)? %\Z", "what would have shown")
                            self.assertLessEqual(float(row[3].split()[0]), 100.0)
        self.assertGreater(agree, 45 * self.seeds)

    def means(self, text, *options):
        """Of the end summary, and of JSON."""
        self.write("gas.toml", text)
        run = self.succeed("run", "gas.toml", "--json", "--force", *options)
        line = next(line for line in run.err.splitlines() if line.startswith("means since"))
        means = run.json["means"]
        self.assertEqual("(equilibrated)" in line, means["equilibrated"] is True, line)
        if means["equilibrated"] is not True:
            self.assertIn(means["reason"], line)
        return means

    def test_a_mixture_that_has_not_mixed_is_not_at_equilibrium(self):
        # The box is crossed by diffusion in some L^2 / (pi^2 D), 60 here, D being about 1.
        apart = self.means(GAS % (24.0, 20.0, 12.0, 12.0, 24.0))
        self.assertIs(apart["equilibrated"], False, apart)
        self.assertRegex(apart["reason"], "(red|blue) is not mixed along x")
        mixed = self.means(GAS % (24.0, 600.0, 24.0, 0.0, 24.0))
        self.assertIs(mixed["equilibrated"], True, mixed)
        late = self.means(GAS % (24.0, 1000.0, 12.0, 12.0, 24.0))
        self.assertIs(late["equilibrated"], True, late)
        self.assertGreater(late["since"], 20.0, "means are of the time since it is mixed")

    def test_species_of_unlike_temperatures_are_not_at_equilibrium(self):
        # Heavy disks give their heat to light ones slowly; the temperature of all, and the pressure, hardly tell.
        cold = GAS % (24.0, 30.0, 24.0, 0.0, 24.0)
        cold = cold.replace('radius = 0.3\nmass = 1.0\n[[species]]', 'radius = 0.3\nmass = 2000.0\n[[species]]')
        means = self.means(cold, "--set", "fill[0].temperature=5.0")
        self.assertIsNot(means["equilibrated"], True, means)
        self.assertRegex(means["reason"], "temperature")

    def test_a_flow_that_decays_is_no_equilibrium(self):
        # Of a wave as long as the box half is left after some 60; rows take it for warmth, and rise slowly.
        draw = random.Random(1)
        waves = """
scene.dimension = 2
box = { size = [80.0, 20.0], boundary = "periodic" }
run = { solver = "events", until = %r }
output = { every = 1.0, observables_every = 0.1 }
"""
        for site in range(320):
            x, y = 2.0 * (site % 40) + 1.0, 2.5 * (site // 40) + 1.0
            v_y = draw.gauss(0.0, 1.0) + 1.2 * math.sin(2.0 * math.pi * x / 80.0)
            waves += (f"[[ball]]\nradius = 0.5\nmass = 1.0\nposition = [{x}, {y}]\n"
                      f"velocity = [{draw.gauss(0.0, 1.0)}, {v_y}]\n")
        early = self.means(waves % 30.0)
        self.assertIs(early["equilibrated"], False, early)
        self.assertEqual(early["reason"], "a flow that changes along x decays")
        late = self.means(waves % 600.0)
        self.assertIs(late["equilibrated"], True, late)
        self.assertGreater(late["since"], 60.0, "means are of the time since it has decayed")

    def test_of_a_moment_nothing_is_said(self):
        # A ball meets another every 0.19 or so, and few rows and frames see nothing move.
        result = self.succeed("run", guide.SCENES / "gas2d.toml", "--json", "--until", "0.3", "-o", "gas.h5")
        means = result.json["means"]
        self.assertIsNone(means["equilibrated"])
        self.assertEqual(means["reason"], "fewer than 5 collisions a ball")
        pressure = next(check for check in result.json["theory"] if check["what"] == "virial pressure")
        self.assertGreater(abs(pressure["sigma"]), 4.0)  # it is not yet what it will be
        self.assertIsNone(pressure["verdict"])
        self.assertIn("no verdict, not known to be at equilibrium", result.err)

    def test_a_long_run_of_few_frames_is_long(self):
        text = GAS % (12.0, 2000.0, 12.0, 0.0, 12.0)
        text = text.replace("count = 150", "count = 8").replace("every = 0.5\nobservables_every = 0.1", "every = 3000.0\nobservables_every = 2.0")
        means = self.means(text)
        self.assertIs(means["equilibrated"], True, means)

    def test_a_cooling_gas_and_two_balls_are_not_at_equilibrium(self):
        for name, value in (("physics.restitution", 0.999), ("physics.friction", 0.1)):
            cooling = self.means(GAS % (24.0, 20.0, 24.0, 0.0, 24.0), "--set", f"{name}={value}")
            self.assertIs(cooling["equilibrated"], False)
            self.assertEqual(cooling["reason"], "contacts take energy, and nothing gives any")
        for scene in ("two_balls", "level6"):
            run = self.succeed("run", guide.SCENES / f"{scene}.toml", "--json", "--force")
            self.assertNotIn("(equilibrated)", run.err)
            self.assertIsNone(run.json["means"]["equilibrated"])

    def test_json_says_what_would_show(self):
        run = self.run_json(guide.SCENES / "hard_disks.toml", "--force")
        theory = {check["what"]: check for check in run["theory"]}
        self.assertLessEqual({"virial pressure", "compressibility", "collision_rate", "mean_free_path"}, set(theory))
        for check in theory.values():
            self.assertEqual(check["verdict"], "agrees", check)
            off = check["measured"] - check["expected"]
            error = (check["error"] ** 2 + check["uncertainty"] ** 2) ** 0.5
            self.assertAlmostEqual(check["sigma"], off / error, delta=1e-9)
            # Of what should be 0, as a share of what it is a balance of.
            self.assertAlmostEqual(check["would_show"], 4.0 * error / (check["expected"] or 1.0), delta=1e-9)


if __name__ == "__main__":
    if "--full" in sys.argv:
        sys.argv.remove("--full")
        Scenes.full = True
        Scenes.patience = 3600  # on a machine that others use too
    if "--seeds" in sys.argv:
        at = sys.argv.index("--seeds")
        Scenes.seeds = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main()
