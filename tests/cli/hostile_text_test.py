"""Whatever a stranger writes into a scene, a table, a report of a bench or a file's name, figures show it and run
nothing."""

import base64
import json
import re
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree

from program import GAS, ProgramTest, cached

# Each would leave a file behind, in a shell, in gnuplot's double quotes, out of its single quotes, or as its command.
COMMANDS = [
    "`touch PWNED1`",
    '"`touch PWNED2`"',
    "$(touch PWNED3)",
    "' ; system('touch PWNED4') ; #",
    "''\\' ; system \"touch PWNED5\" #",
    '" ; ! touch PWNED6',
    "|touch PWNED7",
    "< touch PWNED8",
]
ALL = " ".join(COMMANDS)


def toml(text):
    """A literal of TOML."""
    return json.dumps(text)


class NothingIsRun(ProgramTest):
    def plot(self, *arguments, output="f.svg"):
        """The figure, as text."""
        self.succeed("plot", *arguments, "-o", output, "--force")
        return (self.folder / output).read_text() if output.endswith(".svg") else ""

    def run_gas(self, title, output="gas.h5"):
        self.write("gas.toml", GAS.replace('"small gas"', toml(title)).replace("until = 0.5", "until = 0.05"))
        self.succeed("run", "gas.toml", "--quiet", "--force", "-o", output)

    def tearDown(self):
        left = [path.name for path in self.folder.rglob("PWNED*")]
        self.assertEqual(left, [])
        super().tearDown()

    def test_titles_of_scenes(self):
        for title in [*COMMANDS, ALL]:
            self.run_gas(title)
            self.plot("gas.h5", "energy")
            self.plot("gas.h5", "--all", output="figures/") if title == ALL else None
        self.succeed("report", "gas.h5", "--force")
        self.succeed("compare", "gas.toml", "-o", "page.svg", "--force", "--set", "run.until=0.01")

    def test_a_title_is_shown_as_it_is(self):
        title = "it's `echo a` \\n \"b\" {/Bold c} x_1"
        self.run_gas(title)
        self.assertIn("it's `echo a` \\n \"b\" {/Bold c} x_1", self.plot("gas.h5", "energy").replace("&quot;", '"'))

    def test_what_xml_forbids_leaves_figures_that_are_xml(self):
        for title in ("a]]>b]]>", "a&#x41;b&#xffff;&#x", "a\uffffb\ufffe"):
            self.run_gas(title if "\uffff" not in title else "gas")
            figure = self.plot("gas.h5", "energy", "--title", title)
            shown = title if "\uffff" not in title else "a\\xef\\xbf\\xbfb\\xef\\xbf\\xbe"
            self.assertIn(shown, [element.text for element in xml.etree.ElementTree.fromstring(figure).iter()])
            self.succeed("report", "gas.h5", "--force")
            page = next(self.folder.glob("*.html")).read_text()
            self.assertNotRegex(page, "[\ufffe\uffff]")
            figures = re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)", page)
            self.assertTrue(figures)
            for figure in figures:
                xml.etree.ElementTree.fromstring(base64.b64decode(figure))

    def test_titles_of_figures_and_names_of_units(self):
        units = "".join(f"{key} = {toml(ALL)}\n" for key in ("length", "mass", "time", "energy"))
        self.write("gas.toml", GAS.replace("until = 0.5", "until = 0.05") + f"\n[units]\n{units}")
        self.succeed("run", "gas.toml", "--quiet", "--force")
        for title in [*COMMANDS, ALL]:
            self.plot("gas.h5", "energy", "--title", title)
            self.plot("gas.h5", "energy", "pressure", "--title", title, "--style", "one-column")
        self.plot("gas.h5", "density_map")

    def test_names_of_trajectories(self):
        for k, name in enumerate(["`touch PWNED1`.h5", "' ; system('touch PWNED4') ; #.h5", "|touch PWNED7.h5"]):
            self.run_gas("gas", output=name)
            self.run_gas("gas", output="other.h5")
            self.plot(f"./{name}", "other.h5", "energy", output=f"{k}.svg")

    def test_names_of_outputs(self):
        self.run_gas("gas")
        for name in ["`touch PWNED1`.svg", "|touch PWNED7 .svg", "';system('touch PWNED4');'.svg", "~.svg", "<a.svg"]:
            self.assertIn("</svg>", self.plot("gas.h5", "energy", output=name))

    def test_headers_and_cells_of_tables(self):
        for command in [*COMMANDS, ALL]:
            quoted = '"' + command.replace('"', '""') + '"'
            self.write("t.csv", f"{quoted},b,value\n{quoted},1,2\nx,1,3\n{quoted},2,4\nx,2,5\n")
            self.carom("plot", "t.csv", "-o", "t.svg", "--force")
            self.write("`touch PWNED9`.csv", f"a,{quoted}\n1,2\n2,{quoted}\n3,4\n")
            self.carom("plot", "./`touch PWNED9`.csv", "-o", "t.svg", "--force")

    def test_cells_with_per_cent_signs_are_no_formats(self):
        self.write("t.csv", "mix,v\n50%gas,1\n100%,2\n%s%n,3\n")
        figure = self.plot("t.csv", "v")
        for cell in ("50%gas", "100%", "%s%n"):
            self.assertIn(f">{cell}<", figure)

    def test_devices_and_labels_of_a_bench(self):
        self.succeed("bench", "--quick", "--limit", "1", "--backend", "cpu", "--quiet", "-o", "bench.json")
        text = (self.folder / "bench.json").read_text()

        measured = json.loads(text)
        strings = []

        def collect(value, way=()):
            items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            for key, item in items:
                if isinstance(item, str):
                    strings.append((*way, key))
                else:
                    collect(item, (*way, key))

        collect(measured)
        self.assertTrue(strings)
        for way in strings:
            changed = json.loads(json.dumps(measured))
            place = changed
            for key in way[:-1]:
                place = place[key]
            place[way[-1]] = ALL
            self.write("changed.json", json.dumps(changed))
            self.carom("plot", "changed.json", "-o", "b.svg", "--force")  # many a change is refused, which is right

    def test_control_characters_are_shown(self):
        """A terminal must not be commanded, nor a line of ours be made up."""
        bad = "a\x1b]0;owned\x07\x1b[2J\ncarom: all is well\x7f\u009b31m"
        for text in ("a\x7fb", "a\u009bc", "a\uffffb"):  # of the others the reader of scenes says so
            self.write("gas.toml", GAS.replace('"small gas"', toml(text)))
            self.assertIn("must not hold control characters", self.carom("check", "gas.toml").err)
            self.write("gas.toml", GAS + f"\n[units]\ntime = {toml(text)}\n")
            self.assertIn("must not hold control characters", self.carom("check", "gas.toml").err)
        self.write("gas.toml", GAS.replace("until = 0.5", "until = 0.01"))
        name = bad.replace("/", "")
        self.write("x.toml", GAS.replace("until = 0.5", "until = 0.5\n" + toml(bad) + " = 1"))
        for arguments in (["check", "x.toml"], ["check", name], ["state", name], ["run", "gas.toml", "--set", bad],
                          ["plot", name, "energy"], [bad]):
            result = self.carom(*arguments)
            self.assertNotEqual(result.status, 0)
            self.assertEqual(result.err.count("\n"), 1, result.err)
            for control in ("\x1b", "\x07", "\x7f", "\u009b"):
                self.assertNotIn(control, result.err, arguments)

    def test_control_characters_of_names_are_shown(self):
        """What was written is said with its name, which may be made of that of a stranger's file."""
        bad = "a\x1b[2J\ncarom: all is well\x07"
        self.run_gas("gas")
        self.write("s.sweep.toml", '[sweep]\nscene = "gas.toml"\nrecord = ["temperature"]\n[[axis]]\nname = "seed"\n'
                                   'key = "scene.seed"\nvalues = [1, 2]\n')
        commands = [["run", "gas.toml", "--until", "0.01", "-o", bad + ".h5"], ["convert", "gas.h5", bad + ".xyz"],
                    ["sweep", "s.sweep.toml", "--until", "0.01", "-o", bad + ".csv"],
                    ["plot", bad + ".h5", "energy"], ["report", bad + ".h5"]]
        if cached("CAROM_VIEWER") != "OFF":
            commands.append(["render", "gas.h5", "--last", "--size", "100x80", "-o", bad + ".png"])
        for arguments in commands:
            said = self.succeed(*arguments).err
            self.assertIn(r"a\x1b[2J\x0acarom: all is well\x07", said, arguments)
            self.assertNotRegex(said.replace("\x1b[K", ""), "[\x1b\x07]|\ncarom: all", arguments)

    def test_commands_that_go_on_are_of_one_line_and_mean_what_they_say(self):
        bad = "a\x1b[2J\ncarom: 'all' is well\\\x9b"
        self.run_gas("gas")
        self.write("s.sweep.toml", '[sweep]\nscene = "gas.toml"\nrecord = ["temperature"]\n[[axis]]\nname = "seed"\n'
                                   'key = "scene.seed"\nvalues = [1, 2]\n')
        for command, file, option, expected in (("run", "gas.toml", "--resume", bad + ".checkpoint.h5"),
                                                ("sweep", "s.sweep.toml", "-o", bad + ".csv")):
            process = self.start(command, file, "--until", 1e6, "--set", "output.every=0", "-o", expected.replace(".checkpoint", ""),
                                 "--quiet")
            begun = ".csv.part" if command == "sweep" else ".h5*"
            while not list(self.folder.glob("a\x1b*" + begun)):
                self.assertIsNone(process.poll())
                time.sleep(0.002)
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 143, said)
            self.assertEqual(said.count("\n"), 1, said)
            self.assertNotRegex(said, "[\x1b\x9b]")
            word = re.search(rf" {option} (\$'[^']*')$", said.strip()).group(1)
            read = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, text=True, check=True)
            self.assertEqual(read.stdout, expected)

    def test_control_characters_are_refused(self):
        self.run_gas("gas")
        self.succeed("plot", "gas.h5", "energy", "-o", "bell\arings.svg")  # which no other program is told
        row = {"rung": "spring", "backend": "cpu\x1b[2J", "threads": 1, "dimension": 2, "packing_fraction": 0.1,
               "balls": 1000, "precision": "single", "per_second": 2.0, "per_second_least": 1.0, "per_second_most": 3.0}
        machine = {"commit": "c", "date": "d", "processor": {"name": "n"}, "gpus": []}
        self.write("t.json", json.dumps({"carom_bench": 1, "machine": machine, "rows": [row]}))
        for table in ("a\x1b[2J,b\n1,2\n2,3\n", "a,b\nx\x1b[2J,2\ny,3\n", None):
            for output in (["t.svg"], ["-", "--csv"]):
                self.write("t.csv", table or "")
                result = self.carom("plot", "t.csv" if table else "t.json", "-o", *output)
                self.assertEqual((result.status, result.out), (2, ""), table)
                self.assertIn("control character \\x1b", result.err)
                self.assertEqual(result.err.count("\n"), 1)
        self.write("t.csv", "a,b\n\u009b31m,2\ny,3\n")
        self.assertIn("control character \\x9b", self.carom("plot", "t.csv", "--csv", "-o", "-").err)


if __name__ == "__main__":
    unittest.main()
