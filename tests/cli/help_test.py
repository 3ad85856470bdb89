"""What the program says about itself, and what it says to a command line that it does not understand."""

import json
import re
import unittest

from program import GAS, ProgramTest

COMMANDS = ["run", "check", "state", "convert", "sweep", "bench", "plot", "compare", "view", "render", "report", "info"]


class Help(ProgramTest):
    def test_the_overview_lists_every_command(self):
        result = self.succeed("--help")
        for command in COMMANDS:
            self.assertRegex(result.out, rf"(?m)^  {command} +\w")

    def test_every_command_shows_an_example_of_itself(self):
        for command in COMMANDS:
            with self.subTest(command):
                result = self.succeed(command, "--help")
                self.assertRegex(result.out, rf"Example:\n  carom {command}")
                self.assertEqual(result.err, "")

    def test_the_examples_use_options_that_exist(self):
        for command in COMMANDS:
            out = self.succeed(command, "--help").out
            head, examples = out.split("Example:")
            for option in re.findall(r"(?<=\s)--?[a-z-]+", examples):
                self.assertRegex(head, rf"(?m)(^|[ ,]){option}\b", f"{command}: {option}")

    def test_version_is_one_line(self):
        self.assertRegex(self.succeed("--version").out, r"\Acarom \d+\.\d+\.\d+ \(\S+\)\n\Z")

    def test_info_names_version_processor_and_libraries(self):
        text = self.succeed("info").out
        for word in ["carom", "build", "processor", "GPU", "OpenGL", "HDF5", "fmt", "CLI11"]:
            self.assertIn(word, text)
        info = json.loads(self.succeed("info", "--json").out)
        self.assertGreater(info["processor"]["threads"], 0)
        self.assertGreater(info["processor"]["memory_bytes"], 0)
        self.assertIn("HDF5", info["libraries"])


# Command line -> what the one line on standard error says, as a regular expression. `gas.toml` is a good scene,
# `gas.h5` a trajectory of it, `taken.h5` a file that exists, `text.h5` no trajectory.
MALFORMED = [
    ([], r"no command given; see carom --help"),
    (["rnu", "gas.toml"], r"unknown command rnu; did you mean run\?"),
    (["chek", "gas.toml"], r"unknown command chek; did you mean check\?"),
    (["frobnicate"], r"unknown command frobnicate; see carom --help"),
    (["--frobnicate"], r"unknown option --frobnicate; see carom --help"),
    (["run"], r"no scene given; see carom run --help"),
    (["check"], r"no scene given; see carom check --help"),
    (["run", "gas.toml", "--untl", "3"], r"unknown option --untl; did you mean --until\?"),
    (["run", "gas.toml", "--frobnicate=3"], r"unknown option --frobnicate; see carom run --help"),
    (["run", "gas.toml", "more.toml"], r"unexpected argument 'more.toml'; see carom run --help"),
    (["run", "gas.toml", "--until"], r".*--until.*; see carom run --help"),
    (["run", "gas.toml", "--until", "soon"], r".*run\.until.*"),
    (["run", "gas.toml", "--until", "-1"], r".*run\.until.*"),
    (["run", "gas.toml", "--until", "nan"], r"--until nan: run\.until.*"),
    (["run", "gas.toml", "--set", "run.until=nan"], r"--set run\.until=nan: run\.until.*"),
    (["run", "gas.toml", "--solver", "fast"], r"--solver fast: run\.solver.*"),
    (["check", "gas.toml", "--seed", "-3"], r"--seed -3: scene\.seed.*"),
    (["run", "gas.toml", "--until", ""], r"--until: the value is empty; see carom run --help"),
    (["run", "gas.toml", "--threads", ""], r"--threads: the value is empty; .*"),
    (["run", "gas.toml", "-o", ""], r"--output: the value is empty; .*"),
    (["run", "gas.toml", "--seed", ""], r"--seed: the value is empty; .*"),
    (["run", "gas.toml", "--set", ""], r"--set: the value is empty; .*"),
    (["run", "gas.toml", "--events-log", ""], r"--events-log: the value is empty; .*"),
    (["run", ""], r"SCENE: the value is empty; .*"),
    (["run", "gas.toml", "--output=", "--quiet"], r"--output: the value is empty; .*"),
    (["run", "gas.toml", "--set=", "--force"], r"--set: the value is empty; .*"),
    (["run", "gas.toml", "--", "--force"], r"unexpected argument '--force' behind --; .*"),
    (["check", "gas.toml", "--steps", ""], r"--steps: the value is empty; .*"),
    (["state", "gas.h5", "--time", ""], r"--time: the value is empty; .*"),
    (["plot", "gas.h5", "energy", "--output", ""], r"--output: the value is empty; .*"),
    (["bench", "--quick", "--sizes", ""], r"--sizes: the value is empty; .*"),
    (["run", "gas.toml", "--", "more.toml"], r"unexpected argument 'more\.toml'; see carom run --help"),
    (["run", "gas.toml", "--until", "1", "--steps", "5"], r"--until and --steps exclude each other; give one"),
    (["run", "gas.toml", "--steps", "0"], r"--steps: '0' is not a whole number from 1 up"),
    (["run", "gas.toml", "--steps", "1.5"], r"--steps: '1\.5' is not a whole number from 1 up"),
    (["run", "gas.toml", "--threads", "0"], r"--threads: '0' is not a whole number from 1 up"),
    (["run", "gas.toml", "--threads", "two"], r"--threads: 'two' is not a whole number from 1 up"),
    (["run", "gas.toml", "--threads", "100000"], r"--threads: 100000 is too many; allowed: 1 to 4096"),
    (["run", "gas.toml", "--seed", "-3"], r".*scene\.seed.*"),
    (["run", "gas.toml", "--solver", "fast"], r".*run\.solver.*spring.*"),
    (["run", "gas.toml", "--backend", "gpu"], r".*run\.backend.*auto.*cpu.*cuda.*"),
    (["run", "gas.toml", "--precision", "half"], r".*run\.precision.*single.*double.*"),
    (["run", "gas.toml", "--set", "physics.gravty=[0,-1]"], r".*gravty.*gravity.*"),
    (["run", "gas.toml", "--set", "physics.gravity"], r".*physics\.gravity.*"),
    (["run", "gas.toml", "--set", "physics.friction=0.1"], r".*physics\.friction.*"),
    (["run", "gas.toml", "--set"], r".*--set.*"),
    (["run", "gas.toml", "--checkpoint-every", "often"], r"--checkpoint-every: 'often' is not a time; .*"),
    (["run", "gas.toml", "-o", "taken.h5"], r"taken\.h5: exists already; --force overwrites it, -o names another"),
    (["run", "gas.toml", "--checkpoint", "taken.h5"], r"taken\.h5: exists already; .*"),
    (["run", "gas.toml", "-o", "gas.toml", "--force"], r"gas\.toml: is the input, and would be overwritten.*"),
    (["run", "gas.toml", "-o", "x.h5", "--checkpoint", "x.h5"], r"x\.h5: is to be both.*"),
    (["run", "gas.toml", "-o", "folder"], r"folder: is a folder; name a file"),
    (["run", "--resume", "gas.checkpoint.h5", "gas.toml"], r"--resume takes the scene from the checkpoint.*"),
    (["run", "--resume", "gas.checkpoint.h5"], r"--resume gas\.checkpoint\.h5: the run is at time 0\.5 already.*--until.*"),
    (["run", "--resume", "gas.checkpoint.h5", "--set", "scene.dimension=3"], r"--resume: scene\.dimension cannot be changed.*"),
    (["run", "--resume", "gas.checkpoint.h5", "--until", "1", "-o", "gas.checkpoint.h5", "--force"],
     r"gas\.checkpoint\.h5: is the input, and would be overwritten.*"),
    (["run", "--resume", "gas.h5", "--until", "1"], r".*gas\.h5.*"),
    (["run", "--resume", "text.h5", "--until", "1"], r".*text\.h5.*"),
    (["check", "gas.toml", "--output", "x"], r"unknown option --output.*"),
    (["state"], r".*FILE.*required.*"),
    (["state", "text.h5"], r".*text\.h5.*"),
    (["state", "gas.checkpoint.h5"], r".*gas\.checkpoint\.h5.*"),
    (["state", "gas.h5", "--frame", "6"], r"--frame: gas\.h5 holds the frames 0 to 5"),
    (["state", "gas.h5", "--frame", "-1"], r"--frame: '-1' is not a whole number from 0 up"),
    (["state", "gas.h5", "--time", "x"], r"--time: 'x' is not a time.*"),
    (["state", "gas.h5", "--time", "1", "--last"], r"--last, --time and --frame exclude each other; give one"),
    (["state", "gas.h5", "--json", "--csv"], r"--json and --csv exclude each other; give one"),
    (["convert", "gas.h5"], r".*FILE.*required.*"),
    (["convert", "gas.h5", "gas.doc"], r".*gas\.doc.*\.vtp.*"),
    (["plot", "gas.h5", "entropy"],
     r"gas\.h5: holds no quantity 'entropy'; allowed: balls, energy, pressure, ((?!balls).)* density, .*, msd, vacf"),
    (["plot", "gas.h5", "rdf"], r"gas\.h5: holds no quantity 'rdf'; did you mean 'gr'\?"),
    (["plot", "gas.h5", "speeed"], r"gas\.h5: holds no quantity 'speeed'; did you mean 'speed'\?"),
    (["plot", "gas.h5", "speed", "--frame", "0"],
     r"--last, --time, --frame .* not for 'speed', which is of the whole run; --from and --to choose a part of it, "
     r"--from -D the last D"),
    (["plot", "gas.h5", "--from", "soon"], r"--from: 'soon' is not a number"),
    (["plot", "gas.h5", "--from", "0.4", "--to", "0.3"], r"gas\.h5: nothing is from t = 0\.4 to 0\.3; the run ends at 0\.5"),
    (["plot", "gas.h5", "--from", "7"], r"gas\.h5: nothing is from t = 7 to 0\.5; the run ends at 0\.5"),
    (["plot", "gas.h5", "speed", "--from", "0.41", "--to", "0.42"], r"gas\.h5: holds no frames, t = 0\.41 to 0\.42"),
    (["plot", "gas.h5", "--xrange", "3"], r"--xrange: '3' is not LOW:HIGH; either may be left out"),
    (["plot", "gas.h5", "--yrange", "*:"], r"--yrange: '\*:' is not LOW:HIGH; either may be left out"),
    (["plot", "gas.h5", "--yrange", "3:2"], r"--yrange: 3 is not below 2"),
    (["plot", "gas.h5", "--yrange", "0:2", "--log", "y"], r"--yrange: a logarithmic axis shows only what is above 0"),
    (["plot", "gas.h5", "spring_energy", "--drift", "--cbrange", "0:2"], r"--cbrange: only maps have colours"),
    (["plot", "gas.h5", "density_map", "--log", "x"], r"--log: the axes of a map are places in the box"),
    (["plot", "gas.h5", "--log", "z"], r"--log: 'z' is not known; allowed: x, y, xy, none"),
    (["plot", "gas.h5", "--style", "nature"], r"--style: 'nature' is not known; allowed: screen, one-column, two-column"),
    (["plot", "gas.h5", "--size", "1x1cm"], r"--size: '1x1cm' is too small; allowed: 25\.4 to 685 mm"),
    (["plot", "gas.h5", "--size", "800x600", "-o", "a.pdf"], r"--size: a \.pdf is as large as it is printed; .*"),
    (["plot", "gas.h5", "--size", "800x600", "--style", "one-column"], r"--size: a column is as large as .*"),
    (["plot", "gas.h5", "--font-size", "2"], r"--font-size: 2 is not from 4 to 200"),
    (["plot", "gas.h5", "--title", "a", "--no-title"], r"--title and --no-title exclude each other; give one"),
    (["plot", "gas.h5", "--residuals"], r".*there is no theory to take off, .*"),
    (["plot", "gas.h5", "speed", "--drift"], r"--drift: 'speed' is an average; it is for rows, over time"),
    (["plot", "gas.h5", "--drift", "--residuals"], r"--residuals and --drift exclude each other; give one"),
    (["plot", "gas.h5", "energy", "speed"], r"'speed' is over speed .*, what is before it over time .*: no figure has both"),
    (["plot", "gas.h5", "energy", "pressure", "momentum"], r"'momentum': a figure has two axes, and so two units .*"),
    (["plot", "gas.h5", "energy", "density_map"], r"'density_map' is a map, which nothing can be laid over"),
    (["plot", "gas.h5", "energy", "balls"], r"'balls' is a picture, which stands alone; --rows draws the row of that name"),
    (["plot", "gas.h5", "balls", "--log", "y"], r"--log: is for figures, not for the picture 'balls'; --rows draws .*"),
    (["plot", "gas.h5", "--csv", "-o", "table.png"], r"table\.png: with --csv the file is a table, and ends in \.csv"),
    (["convert", "gas.h5", "x.xyz", "--frames", "3"], r"--frames: '3' is not FIRST:END or FIRST:END:STEP, .*"),
    (["convert", "gas.h5", "x.xyz", "--frames", "::0"], r"--frames: '::0' is not FIRST:END or FIRST:END:STEP, .*"),
    (["convert", "gas.h5", "x.xyz", "--frames", "a:"], r"--frames: 'a:' is not FIRST:END or FIRST:END:STEP, .*"),
    (["convert", "gas.h5", "x.xyz", "--frames", "4:2"], r"gas\.h5: no frame is left; it holds 6, from t = 0 to 0\.5"),
    (["convert", "gas.h5", "x.xyz", "--last", "--to", "0.2"], r"--last, --time and --frame choose one frame; .*"),
    (["convert", "gas.h5", "x.xyz", "--every", "-1"], r"--every: '-1' is not a time; .*"),
    (["plot", "gas.h5", "--all", "--last"], r"--last, .* not for '--all', .*"),
    (["plot", "gas.h5", "gas.csv", "speed"],
     r"gas\.h5 and gas\.csv cannot be drawn together; allowed: runs \(\.h5\), as many as you like, .*"),
    (["plot", "gas.csv", "gas.h5"], r"gas\.csv and gas\.h5 cannot be drawn together; .*"),
    (["plot", "gas.csv", "more.csv"], r"gas\.csv and more\.csv cannot be drawn together; .*"),
    (["plot", "gas.checkpoint.h5"],
     r"gas\.checkpoint\.h5: is a checkpoint, which carom run --resume takes; give the trajectory of its run, gas\.h5"),
    (["plot", "gas.h5", "energy", "-o", "gas.jpg"], r"gas\.jpg: figures end in \.png, \.svg or \.pdf"),
    (["plot", "gas.h5", "balls", "-o", "gas.svg"], r"gas\.svg: a picture of the balls ends in \.png"),
    (["plot", "gas.h5", "balls", "--size", "big"], r"--size: 'big' is not WIDTHxHEIGHT"),
    (["plot", "gas.h5", "balls", "--color-by", "mood", "-o", "m.png"], r"--color-by: 'mood' is not known; .*"),
    (["plot", "gas.h5", "energy", "-o", "taken.h5"], r"taken\.h5: exists already; .*"),
    (["report"], r".*FILE.*required.*"),
    (["report", "gas.h5", "-o", "gas.pdf"], r"gas\.pdf: a report ends in \.html"),
    (["report", "text.h5"], r".*text\.h5.*"),
    (["report", "gas.checkpoint.h5"], r"gas\.checkpoint\.h5: is a checkpoint, .* give the trajectory of its run, gas\.h5"),
    (["report", "gas.h5", "-o", "taken.html"], r"taken\.html: exists already; .*"),
    (["info", "now"], r"unexpected argument 'now'; see carom info --help"),
]

# The same for exit status 4.
FAILED = [
    (["run", "nowhere.toml"], r".*nowhere\.toml.*"),
    (["check", "nowhere"], r".*nowhere.*"),
    (["run", "--resume", "nowhere.h5"], r".*nowhere\.h5.*"),
    (["state", "nowhere.h5"], r".*nowhere\.h5.*"),
    (["plot", "nowhere.h5"], r".*nowhere\.h5.*"),
    (["report", "nowhere.h5"], r".*nowhere\.h5.*"),
    (["convert", "nowhere.h5", "x.csv"], r".*nowhere\.h5.*"),
    (["run", "gas.toml", "-o", "nowhere/x.h5"], r"cannot write nowhere/x\.h5: there is no folder nowhere"),
]


class CommandLines(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("gas.toml", GAS)
        self.write("taken.h5", "precious")
        self.write("taken.html", "precious")
        self.write("text.h5", "no HDF5 at all")
        (self.folder / "folder").mkdir()
        self.succeed("run", "gas.toml", "--quiet")

    def check_table(self, table, status):
        before = {path.name: path.stat().st_mtime_ns for path in self.folder.iterdir()}
        for arguments, expected in table:
            with self.subTest(" ".join(arguments)):
                if arguments[:2] == ["run", "gas.toml"] and "-o" not in arguments:
                    arguments = [*arguments[:2], "-o", "new.h5", *arguments[2:]]
                result = self.carom(*arguments)
                self.assertEqual(result.status, status, result.err)
                self.assertRegex(result.err, rf"\Acarom: (?:{expected})\n\Z")
                self.assertEqual(result.out, "")
        after = {path.name: path.stat().st_mtime_ns for path in self.folder.iterdir()}
        self.assertEqual(before, after, "something was written")

    def test_malformed_ones_get_one_line_and_status_2(self):
        self.check_table(MALFORMED, 2)

    def test_missing_files_and_folders_are_status_4(self):
        self.check_table(FAILED, 4)

    @unittest.skipIf(__import__("os").path.exists("/dev/nvidia0"), "this machine has a GPU")
    def test_asking_for_a_gpu_without_one_is_status_4(self):
        self.check_table([(["run", "gas.toml", "--backend", "cuda", "-o", "x.h5"], r".*no CUDA device.*")], 4)


if __name__ == "__main__":
    unittest.main()
