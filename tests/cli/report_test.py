"""carom report: one page that needs nothing but itself, right in a browser and without one."""

import base64
import html.parser
import json
import os
import re
import shutil
import struct
import subprocess
import time
import unittest

import h5py
import numpy

from program import ProgramTest

# A title and a comment that would break out of a page that did not escape them.
TITLE = "balls </title><script>document.title='taken'</script> & \\\"more\\\""
SCENE = """
# </pre><script>document.title='taken'</script><img src=http://carom.invalid/spy.png>
[scene]
title = "%s"
dimension = 2
seed = 5

[box]
size = [20.0, 20.0]
boundary = ["periodic", "periodic"]

[run]
solver = "events"
until = 60.0

[output]
every = 3.0
observables_every = 0.1

[[species]]
name = "<b>gas</b>"
radius = 0.5
mass = 1.0

[[fill]]
species = "<b>gas</b>"
count = 100
temperature = 1.0

[[observe]]
name = "speeds"
kind = "speed"
bins = 32
max = 5.0

[[observe]]
name = "kurtosis"
kind = "kurtosis"

[[observe]]
name = "map"
kind = "density_map"
bins = 8
""" % TITLE

# What holds of driven gases too.
ENERGY = "energy balance, relative defect"
BALANCES = {ENERGY, "force on x-min, less that on x-max [N]"}


class Page(html.parser.HTMLParser):
    """What a page holds, and what it would fetch."""

    VOID = {"meta", "img", "br", "link"}

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.references, self.tables, self.text = [], [], [], [], {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "srcset", "data", "poster", "action", "background", "xlink:href"):
                self.references.append(value)
            assert not name.startswith("on"), f"{name} would run a script"
        if tag == "table":
            self.tables.append([])
        if tag == "tr" and self.tables:
            self.tables[-1].append([])
        if tag in ("td", "th") and self.tables:
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> does not close {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1] += data
        for tag in set(self.open):
            self.text[tag] = self.text.get(tag, "") + data


def browser():
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


def png_pixels(path):
    """The pixels of a picture, (rows, columns, 3)."""
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                         capture_output=True, check=True).stdout
    return numpy.frombuffer(raw, numpy.uint8).reshape(height, width, 3)


class Driven:
    """A browser with a page, told what to do by Chrome's own protocol: JSON between zeros, over its descriptors 3 and 4."""

    def __init__(self, folder, url):
        to, self.to = os.pipe()
        self.back, back = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to} 4>&{back}', "browser", browser(), "--headless", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={folder}/driven", "--remote-debugging-pipe", "about:blank"],
            pass_fds=[to, back], env=dict(os.environ, HOME=str(folder)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to)
        os.close(back)
        self.rest, self.number, self.session = b"", 0, {}
        target = self.call("Target.createTarget", url=url)["targetId"]
        self.session = {"sessionId": self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        while self.value("document.readyState + location.protocol") != "completefile:":
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)

    def call(self, method, **parameters):
        self.number += 1
        order = {"id": self.number, "method": method, "params": parameters, **self.session}
        os.write(self.to, json.dumps(order).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                some = os.read(self.back, 1 << 20)
                assert some, "the browser is gone"
                self.rest += some
            answer, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(answer)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")


def figures_by_page(pdf):
    """How many figures each page of Chrome's PDF has, that has any: they are told for readers that do not see them."""
    pages = re.findall(rb"/S /Figure\n/Alt .*?/Pg (\d+) 0 R", pdf, re.S)
    return [pages.count(page) for page in sorted(set(pages))]


class Report(ProgramTest):
    def report(self, scene=SCENE, run=()):
        self.write("gas.toml", scene)
        self.succeed("run", "gas.toml", "--quiet", *run)
        self.succeed("report", "gas.h5", "-o", "gas.html", *[option for option in run if option == "--force"])
        return (self.folder / "gas.html").read_text()

    def test_the_page_is_whole_and_refers_to_nothing_outside(self):
        text = self.report()
        page = Page(text)
        self.assertEqual(page.open, [], "all tags are closed")
        self.assertGreater(len(page.references), 7)
        contents = [reference[1:] for reference in page.references if reference.startswith("#")]
        self.assertEqual(contents, re.findall(r'<h2 id="([^"]*)">', text))
        self.assertIn("measured-against-theory", contents)
        for reference in page.references:
            self.assertRegex(reference, r"\A(#[a-z-]+\Z|data:image/(png|svg\+xml);base64,)")
        for tag in ("script", "iframe", "object", "embed", "link", "base", "form"):
            self.assertNotIn(tag, page.tags)
        self.assertNotRegex(page.text["style"], r"url\(|@import|http")
        self.assertIn("default-src 'none'", text)
        self.assertIn('name="viewport"', text)
        self.assertIn('<td data-label="verdict">', text)  # for phones, where there is no row of heads

    def test_text_of_the_user_is_shown_as_it_is(self):
        page = Page(self.report())
        self.assertEqual(page.text["h1"], TITLE.replace('\\"', '"'))
        self.assertEqual(page.text["title"], page.text["h1"])
        self.assertEqual(page.text["pre"], "\n" + (self.folder / "gas.toml").read_text())

    def test_it_holds_run_machine_theory_and_means(self):
        page = Page(self.report())
        summary = dict(row[:2] for table in reversed(page.tables) for row in table)
        self.assertEqual(summary["balls"], "100 in 2D")
        self.assertEqual(summary["box"], "20 m (periodic) x 20 m (periodic)")
        self.assertRegex(summary["events"], r"\A[0-9]{1,3}(,[0-9]{3})+\Z")
        self.assertRegex(summary["events per second"], r"\A[0-9]{1,3}(,[0-9]{3})+\Z")
        self.assertRegex(summary["total energy"], r"\A[0-9.]+ J\Z")
        self.assertIn("kinetic_energy [J]", summary)
        self.assertIn("virial_pressure [N·m⁻¹]", summary)
        self.assertRegex(summary["state hash"], r"\A[0-9a-f]{16}\Z")
        self.assertIn("cpu", summary["processor"])
        self.assertIn("total energy", summary)
        theory = {row[0]: row for table in page.tables if table[0][1] == "verdict" for row in table}
        self.assertEqual(theory["virial pressure [N·m⁻¹]"][1], "agrees")
        self.assertEqual(theory["speeds"][1], "agrees")
        self.assertEqual(theory["kurtosis"][1], "agrees")
        self.assertEqual(theory["density"][1:3], ["too few samples", ""], "of eleven frames")
        self.assertLess(abs(float(theory["kurtosis"][2])), 4.0)
        averages = next(table for table in page.tables if table[0][0] == "average")
        self.assertEqual([row[:2] for row in averages[1:]], [["kurtosis", "kurtosis"]])
        self.assertRegex(averages[1][2], r"\A[23]\.\d+\(\d\)\Z")
        self.assertGreater(int(averages[1][3]), 16)
        captions = re.findall(r"<figcaption>(.*?)</figcaption>", (self.folder / "gas.html").read_text())
        words = re.findall(r'<img [^>]* alt="([^"]*)">', (self.folder / "gas.html").read_text())
        self.assertEqual(words[0], "the balls in their box at t = 0 s")
        self.assertRegex(words[2], r"\Arelative change of total energy over time \[s\] from 0 to 60; total energy: [-0-9.e]+ to [-0-9.e]+\Z")
        self.assertRegex(words[5], r"; Maxwell-Boltzmann \(theory\): ")
        self.assertRegex(words[6], r"\Amap of .* from [0-9.]+ to [0-9.]+, over x \[m\] and y \[m\]\Z")
        text = (self.folder / "gas.html").read_text()
        drawn = [base64.b64decode(url).decode() for url in re.findall(r"data:image/svg\+xml;base64,([^\"]*)", text)]
        self.assertGreater(len(drawn), 4)
        for figure in drawn:  # what makes each again
            self.assertRegex(figure, r">100 balls, events, seed 5, carom \d")
        self.assertEqual(captions, ["first frame, t = 0 s", "last frame, t = 60 s", "energy", "pressure", "temperature",
                                    "speeds", "map", "density", "kurtosis"])

    def test_a_run_that_has_not_forgotten_its_start_has_no_verdict(self):
        # Equal speeds, and too short to forget them: kurtosis 3/2, no Maxwell and Boltzmann, nor anything else for long.
        scene = SCENE.replace("temperature = 1.0", "speed = 1.4").replace("kind = \"kurtosis\"",
                                                                         "kind = \"kurtosis\"\nevery = 0.001")
        scene = scene.replace("max = 5.0", "max = 5.0\nevery = 0.001")
        page = self.tables(scene, "--until", "0.1")
        theory = {row[0]: row for table in page.tables if table[0][1] == "verdict" for row in table}
        self.assertEqual(theory["kurtosis"][1], "too few independent samples")
        self.assertEqual(theory["speeds"][1], "too few independent samples")

    def tables(self, scene, *run):
        """A page of which only tables are looked at: without pictures of balls and the map, which take most of its time."""
        scene = re.sub(r'\n\[\[observe\]\]\nname = "map"\n.*?\n(?=\n|\[|\Z)', "", scene, flags=re.DOTALL)
        return Page(self.report(scene, ("--set", "output.fields=['velocity']", "--force", *run)))

    @staticmethod
    def verdicts(page):
        return {row[0]: row for table in page.tables if table[0][1] == "verdict" for row in table[1:]}

    @staticmethod
    def run_table(page):
        return dict(row[:2] for table in reversed(page.tables) for row in table)

    def test_a_driven_gas_is_told_of_its_energy_and_has_no_theory_of_equilibrium(self):
        scene = SCENE.replace('["periodic", "periodic"]', '["wall", "periodic"]')
        observed = "".join(f'[[observe]]\nname = "{kind}_of_all"\nkind = "{kind}"\n' for kind in (
            "temperature_profile", "density", "velocity", "temperature"))
        between = scene.replace("[run]", "wall_temperature = [[4.0, 1.0], 0.0]\n[run]") + observed
        # Nearly as warm as it gets, and long enough to tell: between such walls a gas is slow to settle.
        page = self.tables(between.replace("temperature = 1.0\n", "temperature = 1.7\n").replace("until = 60.0", "until = 300.0"))
        self.assertEqual(set(self.verdicts(page)), {"temperature_profile_of_all", *BALANCES}, "of all else there is no theory")
        profile = self.verdicts(page)["temperature_profile_of_all"]
        self.assertEqual(profile[1], "agrees", profile)
        self.assertIn("Fourier, Enskog", profile[5])
        captions = re.findall(r"<figcaption>(.*?)</figcaption>", (self.folder / "gas.html").read_text())
        self.assertIn("wall_heat", captions)
        self.assertNotIn("work", captions, "no wall moves")
        told = self.run_table(page)
        self.assertGreater(float(told["heat given to the balls"].removesuffix(" J")), 0.0)
        self.assertEqual(told["work done on the balls"], "0 J")
        self.assertIn("energy lost in contacts", told)
        self.assertLess(abs(float(told["energy balance, relative defect"])), 1e-9)

        alike = between.replace("[4.0, 1.0]", "[1.0, 1.0]")
        page = self.tables(alike)
        self.assertEqual(set(self.verdicts(page)), {"speeds", "kurtosis", "velocity_of_all", "temperature [J]", *BALANCES},
                         "of temperatures there is that of all beside the walls'")
        rescaled = SCENE + '[thermostat]\nkind = "rescale"\ntemperature = 1.0\nevery = 1.0\n'
        self.assertEqual(set(self.verdicts(self.tables(rescaled))), {ENERGY})
        self.assertNotIn("heat given to the balls", self.run_table(self.tables(SCENE)))

    def test_theory_is_that_of_the_stages_that_measure(self):
        # The first stage heats from 1 to 4; means with it in them would be a third too cold.
        stages = """
[[stage]]
until = 20.0
measure = false
gravity = [0.0, -0.5]
thermostat = { kind = "andersen", temperature = 4.0, rate = 0.3 }
[[stage]]
until = 60.0
"""
        scene = SCENE.replace('["periodic", "periodic"]', '["wall", "wall"]') + stages
        scene = scene.replace("max = 5.0", "max = 5.0\nevery = 0.5")
        theory = self.verdicts(self.tables(scene))
        self.assertEqual(theory["speeds"][1], "agrees")
        self.assertEqual([name for name in theory if name.startswith("force on the floor")], [], "there is no weight any more")
        both = scene.replace("measure = false", "measure = true")
        page = self.tables(both)
        theory = self.verdicts(page)
        forces = {name for name in theory if name.startswith("force on ")}
        self.assertEqual(set(theory) - forces, {ENERGY}, "with and without gravity")
        # Rows count from the end of the bath on, behind which the energy is what it is.
        self.assertEqual([theory[name][1] for name in forces], ["agrees", "agrees"])

    def test_a_canonical_gas_has_the_kurtosis_of_an_energy_that_is_not_fixed(self):
        # Of ten balls 3 D / (D + 2) is 2.73, and 2.70 without a momentum.
        scene = SCENE.replace("count = 100", "count = 10").replace('"kurtosis"\n\n', '"kurtosis"\nevery = 0.5\n\n')
        scene = scene.replace("until = 60.0", "until = 3000.0").replace("every = 3.0", "every = 300.0")
        bath = '[thermostat]\nkind = "andersen"\ntemperature = 1.0\nrate = 1.0\n'
        for text, words in ((scene, "fixed energy"), (scene + bath, "3, Maxwell and Boltzmann")):
            kurtosis = self.verdicts(self.tables(text))["kurtosis"]
            self.assertEqual(kurtosis[1], "agrees", kurtosis)
            self.assertIn(words, kurtosis[5])

    def test_followed_balls_have_a_theory_without_a_thermostat_that_makes_them_forget(self):
        observed = "".join(f'[[observe]]\nname = "{kind}"\nkind = "{kind}"\n' for kind in ("msd", "vacf"))
        theory = self.verdicts(self.tables(SCENE + observed))
        self.assertIn("vacf", theory)
        self.assertIn("msd", theory)
        andersen = SCENE + observed + '[thermostat]\nkind = "andersen"\ntemperature = 1.0\nrate = 1.0\n'
        theory = self.verdicts(self.tables(andersen))
        self.assertIn("speeds", theory)
        self.assertNotIn("vacf", theory)
        self.assertNotIn("msd", theory)

    def test_springs_so_soft_that_contacts_last_are_no_hard_spheres(self):
        # A contact takes pi sqrt(m / (2 k)), 0.25 of a unit of time or 0.07, and a correlation half of one.
        scene = SCENE.replace("dimension = 2", "dimension = 3").replace("[20.0, 20.0]", "[7.0, 7.0, 7.0]")
        scene = scene.replace('["periodic", "periodic"]', '["periodic", "periodic", "periodic"]')
        scene = scene.replace("count = 100", "count = 130").replace('"events"', '"spring"')
        scene += '[[observe]]\nname = "vacf"\nkind = "vacf"\n'
        for stiffness, verdict in ((80.0, "differs"), (1000.0, "agrees")):
            text = scene + f"[spring]\nstiffness = {stiffness}\nmax_overlap = 0.5\n"
            page = self.tables(text, "--until", "40")
            self.assertEqual(self.verdicts(page)["vacf"][1], verdict, stiffness)

    def test_a_run_without_summary_or_values_has_a_page_too(self):
        self.write("gas.toml", SCENE)
        process = self.start("run", "gas.toml", "--quiet", "--until", "1e6", "--set", "output.every=1")
        while not (self.folder / "gas.h5").exists() or (self.folder / "gas.h5").stat().st_size < 250_000:
            self.assertIsNone(process.poll())
        process.kill()
        process.communicate()
        self.succeed("report", "gas.h5")
        page = Page((self.folder / "gas.html").read_text())
        self.assertIn("the run did not end in order, or has not ended yet: there is no summary", page.text["td"])

    def test_means_of_a_run_that_was_killed_are_of_stages_that_measure(self):
        stages = "".join(f'\n[[stage]]\nuntil = {until}\nmeasure = {measures}\n'
                         f'thermostat = {{ kind = "rescale", temperature = {temperature}, every = 0.2 }}\n'
                         for until, measures, temperature in ((50.0, "false", 4.0), (60.0, "true", 1.0)))
        told = self.run_table(self.killed(SCENE + stages))
        self.assertAlmostEqual(float(told["temperature [J]"].partition("(")[0]), 1.0, delta=0.05)

    def killed(self, scene):
        """The page of a run that was killed at its end."""
        self.tables(scene)
        with h5py.File(self.folder / "gas.h5", "r+") as file:
            file["parameters/summary"][()] = b""
        self.succeed("report", "gas.h5", "-o", "killed.html", "--force")
        return Page((self.folder / "killed.html").read_text())

    def test_of_a_run_that_was_killed_nobody_knows_whether_it_was_at_equilibrium(self):
        theory = self.verdicts(self.killed(SCENE))
        self.assertEqual(theory["virial pressure [N·m⁻¹]"][1], "not known to be at equilibrium")
        self.assertEqual(theory["speeds"][1], "not known to be at equilibrium")

    def test_nothing_is_overwritten_without_force(self):
        self.report()
        process = self.start("report", "gas.h5", "-o", "late.html")
        time.sleep(0.2)  # it draws for longer
        self.write("late.html", "precious")
        process.communicate()
        self.assertEqual((process.returncode, (self.folder / "late.html").read_text()), (2, "precious"))
        self.assertEqual(self.carom("report", "gas.h5", "-o", "gas.html").status, 2)
        self.succeed("report", "gas.h5", "-o", "gas.html", "--force")

    def test_a_browser_shows_it_without_fetching_anything(self):
        if "CAROM_WITHOUT_BROWSER" in os.environ:
            self.skipTest("CAROM_WITHOUT_BROWSER is set")
        self.assertIsNotNone(browser(), "no browser is installed: scripts/install-deps.sh --test installs one where the "
                             "distribution has it; where it has none, set CAROM_WITHOUT_BROWSER=1")
        text = self.report()
        log = self.folder / "net.json"
        shared = [browser(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile",
                  f"--log-net-log={log}", "--virtual-time-budget=4000"]
        environment = dict(os.environ, HOME=str(self.folder))
        url = (self.folder / "gas.html").as_uri()
        dump = subprocess.run([*shared, "--dump-dom", url], capture_output=True, text=True, timeout=240,
                              env=environment, check=True).stdout
        seen = Page(re.sub(r"\A<!DOCTYPE html>", "", dump))
        written = Page(text)
        self.assertEqual("\n" + seen.text["pre"], written.text["pre"])
        self.assertEqual(seen.text["title"], written.text["title"], "no script has run")
        self.assertEqual(seen.tables, written.tables)
        # Pages and pictures that were asked for by name; the page itself is a file.
        asked = set(re.findall(r'"url":"((?:https?|ftp|wss?):[^"]*)"', log.read_text()))
        ours = {url for url in asked if "carom" in url}
        self.assertEqual(ours, set())

        for width, height in ((1280, 900), (375, 812)):  # a desk, and a phone
            shot = self.folder / f"shot{width}.png"
            subprocess.run([*shared, f"--screenshot={shot}", f"--window-size={width},{height}", "--hide-scrollbars",
                            url], capture_output=True, timeout=240, env=environment, check=True)
            pixels = png_pixels(shot)
            self.assertEqual(pixels.shape, (height, width, 3))
            self.assertGreater((pixels.max(axis=2) < 128).sum(), 1500, "there is text")
            self.assertEqual(pixels[-1, -1].tolist(), [255, 255, 255], "on white, to the edge")
        shot = self.folder / "dark.png"
        subprocess.run([*shared, f"--screenshot={shot}", "--window-size=1280,900", "--hide-scrollbars",
                        "--blink-settings=preferredColorScheme=0", url], capture_output=True, timeout=240, env=environment, check=True)
        pixels = png_pixels(shot)
        self.assertEqual(pixels[-1, -1].tolist(), [0x16, 0x19, 0x1d], "who likes it dark has it so")
        self.assertGreater((pixels.min(axis=2) > 128).sum(), 1500, "there is text")

    def test_nothing_is_cut_off_on_a_phone_on_a_desk_or_on_paper(self):
        if "CAROM_WITHOUT_BROWSER" in os.environ:
            self.skipTest("CAROM_WITHOUT_BROWSER is set")
        self.report()
        with Driven(self.folder, (self.folder / "gas.html").as_uri()) as page:
            for width, height, mobile in ((1280, 900, False), (375, 812, True)):
                page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
                seen = page.value("""(() => {
                    const box = e => e.getBoundingClientRect();
                    const cells = [...document.querySelectorAll("td, tbody th")];
                    return {wide: document.documentElement.scrollWidth,
                            cells: cells.length,
                            hidden: cells.filter(e => e.innerText.trim() && (box(e).width < 1 || box(e).height < 1)).length,
                            outside: [...document.querySelectorAll("h1, h2, td, th, img, figcaption, p")].filter(
                                e => box(e).width > 0 && (box(e).left < -1 || box(e).right > innerWidth + 1)).length,
                            scrolling: [...document.querySelectorAll(".wide")].filter(
                                e => e.scrollWidth > e.clientWidth + 1).length}})()""")
                self.assertGreater(seen["cells"], 50)
                self.assertLessEqual(seen["wide"], width)
                self.assertEqual((seen["hidden"], seen["outside"], seen["scrolling"]), (0, 0, 0), width)
            page.call("Emulation.clearDeviceMetricsOverride")
            paper = base64.b64decode(page.call("Page.printToPDF", preferCSSPageSize=True)["data"])
        figures = figures_by_page(paper)
        self.assertGreater(sum(figures), 7)
        self.assertLessEqual(max(figures), 3, figures)
        self.assertGreater(sum(figures) / len(figures), 1.5, figures)


if __name__ == "__main__":
    unittest.main()
