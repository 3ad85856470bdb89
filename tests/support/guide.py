"""For the tests of the chapters of docs/physics.md."""

import html
import os
import re

import h5py

from program import SOURCE, ProgramTest

SCENES = SOURCE / "scenes"
SEED = os.environ.get("CAROM_GUIDE_SEED", "")


def disk_compressibility(phi):
    """Luding and Strauss 2001: another formula than the program's; within 0.1 % of it up to phi = 0.65."""
    free = 1.0 - phi
    return 1.0 + 2.0 * phi * ((1.0 - 7.0 / 16.0 * phi) / free**2 - phi**3 / (128.0 * free**4))


def rows(file, name):
    """Times and values of an observable."""
    return file[f"observables/{name}/time"][:], file[f"observables/{name}/value"][:]


def average(file, name):
    """Places, values and standard errors of an average at the end of the run; places are None for a number."""
    group = file[f"observables/{name}"]
    return group["x"][-1] if "x" in group else None, group["value"][-1], group["error"][-1]


class GuideTest(ProgramTest):
    """With CAROM_GUIDE_SEED in the environment scenes run with that seed instead of their own, and what is compared is
    printed: so tolerances have been measured, by the scatter over seeds 1 to 8."""

    def run_scene(self, name, *options):
        """Runs a scene of the guide with its own seed, unless `options` have one; gives its trajectory."""
        if SEED and "--seed" not in options:
            options = (*options, "--seed", SEED)
        self.succeed("run", SCENES / f"{name}.toml", "-o", f"{name}.h5", "--quiet", "--force", *options)
        return h5py.File(self.folder / f"{name}.h5")

    def theory(self, name):
        """What the report of a run has of measured against theory: the cells of each row, by the first."""
        self.succeed("report", f"{name}.h5", "-o", f"{name}.html", "--force")
        page = (self.folder / f"{name}.html").read_text()
        section = page[page.index("Measured against theory</h2>"):]
        section = section[:section.index("<h2 ")]
        rows = [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<td.*?</td>|<th.*?</th>", row)]
                for row in re.findall(r"<tr>.*?</tr>", section, re.DOTALL)]
        return {row[0]: row for row in rows if row[0] != "quantity"}

    def figure(self, name, quantity):
        """A figure of a run, as the text of an .svg."""
        self.succeed("plot", f"{name}.h5", quantity, "-o", f"{name}.svg", "--quiet", "--force")
        return (self.folder / f"{name}.svg").read_text()

    def near(self, what, value, expected, delta):
        """assertAlmostEqual of a measured number."""
        if SEED:
            print(f"seed {SEED} {what}: {value:.5g} for {expected:.5g} +- {delta:.2g}", flush=True)
        else:
            self.assertAlmostEqual(value, expected, delta=delta, msg=what)

    def below(self, what, value, most):
        """assertLess of a measured number."""
        if SEED:
            print(f"seed {SEED} {what}: {value:.5g} below {most:.2g}", flush=True)
        else:
            self.assertLess(value, most, what)
