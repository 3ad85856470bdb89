"""carom render as a user calls it: pictures, folders, movies, and what it says when something is wrong."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import time
import unittest

import numpy

from program import GAS, SOURCE, ProgramTest, cached

TWO = """
[scene]
title = "two"
dimension = 2
[box]
size = [10.0, 5.0]
[run]
backend = "cpu"
until = 1.0
[output]
every = 0.25
[[species]]
name = "pin"
radius = 0.5
mass = 1.0
color = "#E91E63"
[[species]]
name = "pool"
radius = 0.5
mass = 1.0
color = "#E91E63"
[[ball]]
species = "pin"
position = [2.0, 2.5]
velocity = [1.0, 0.0]
[[ball]]
species = "pool"
position = [8.0, 2.5]
"""


def pixels(path):
    """The picture as an array of height x width x 3."""
    probe = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=width,height",
                            "-of", "csv=p=0", path], capture_output=True, text=True, check=True)
    width, height = map(int, probe.stdout.strip().split(","))
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                         capture_output=True, check=True).stdout
    return numpy.frombuffer(raw, numpy.uint8).reshape(height, width, 3).astype(int)


def columns_of(picture, color, tolerance=2):
    """The columns that hold a pixel of that colour, in runs: (first, last)."""
    hit = (abs(picture - numpy.array(color)).max(axis=2) <= tolerance).any(axis=0)
    edges = numpy.flatnonzero(numpy.diff(numpy.concatenate([[0], hit.astype(int), [0]])))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2])]


PINK = (0xE9, 0x1E, 0x63)


class Render(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("two.toml", TWO)

    def test_a_scene_becomes_a_picture_of_the_size_asked_for(self):
        result = self.succeed("render", "two.toml", "-o", "two.png", "--size", "501x333", "--bare")
        self.assertEqual(result.out, "")
        self.assertIn("two.png", result.err)
        picture = pixels(self.folder / "two.png")
        self.assertEqual(picture.shape, (333, 501, 3))
        self.assertEqual(len(columns_of(picture, PINK)), 2)
        self.assertEqual(self.files(), ["two.png", "two.toml"])

    def test_the_frame_asked_for_is_the_one_that_is_drawn(self):
        self.succeed("run", "two.toml", "--quiet", "-o", "two.h5")
        places = {}
        for name, options in {"start": ["--time", "0"], "second": ["--frame", "1"], "late": ["--time", "0.8"],
                              "end": ["--last"], "default": []}.items():
            for source in ("two.toml", "two.h5"):
                self.succeed("render", source, "-o", "out.png", "--bare", "--force", *options)
                first, last = columns_of(pixels(self.folder / "out.png"), PINK)[0]
                places[name, source] = (first + last) / 2
        # 1280 pixels less the rims of 16 show 10 m: a metre is 124.8 pixels, and the ball moves at 1 m/s.
        for source in ("two.toml", "two.h5"):
            start = places["start", source]
            for name, way in {"second": 0.25, "end": 1.0, "default": 1.0}.items():
                self.assertAlmostEqual(places[name, source] - start, way * 124.8, delta=1.1, msg=f"{name} {source}")
        self.assertAlmostEqual(places["late", "two.toml"] - places["start", "two.toml"], 0.8 * 124.8, delta=1.1)
        self.assertAlmostEqual(places["late", "two.h5"] - places["start", "two.h5"], 0.75 * 124.8, delta=1.1)

    def test_a_scene_has_the_frames_that_its_run_would_store(self):
        for every, last in (("0", 1), ("0.3", 4)):
            self.succeed("run", "two.toml", "--quiet", "-o", "two.h5", "--set", f"output.every={every}", "--force")
            for name, options in {"two.toml": ["--set", f"output.every={every}"], "two.h5": []}.items():
                self.succeed("render", name, "-o", f"{name}.png", "--bare", "--frame", str(last), "--force", *options)
                beyond = self.carom("render", name, "-o", "beyond.png", "--frame", str(last + 1), *options)
                self.assertEqual(beyond.status, 2)
                self.assertRegex(beyond.err, rf"--frame: .*the frames 0 to {last}\n")
            self.assertLessEqual(abs(pixels(self.folder / "two.toml.png") - pixels(self.folder / "two.h5.png")).max(), 1)

    def test_a_time_beyond_the_frames_of_a_file_is_said(self):
        self.succeed("run", "two.toml", "--quiet", "-o", "two.h5")
        for command, kind in (("render", []), ("plot", ["balls"])):
            for when, said in (("1.1", ""), ("1.2", "two.h5 has frames from t = 0 to 1: the last one is taken for 1.2"),
                               ("1e9", "the last one is taken for 1e+09")):
                err = self.succeed(command, "two.h5", *kind, "-o", "out.png", "--force", "--time", when).err
                self.assertIn(said, err)
                self.assertEqual("--time" in err, said != "", err)
        self.assertEqual(self.succeed("render", "two.h5", "-o", "o.png", "--time", "9", "--quiet").err, "")

    def test_frames_without_positions_are_refused(self):
        self.succeed("run", "two.toml", "--quiet", "-o", "two.h5", "--set", 'output.fields=["velocity"]')
        for command in (["render", "two.h5"], ["plot", "two.h5", "balls"]):
            result = self.carom(*command, "-o", "out.png")
            said = "carom: two.h5: its frames hold no positions to draw balls at\n"
            self.assertEqual((result.status, result.err), (2, said), command)
            self.assertNotIn("out.png", self.files())

    def test_formulas_of_what_frames_do_not_hold_are_refused(self):
        self.succeed("run", "two.toml", "--quiet", "-o", "two.h5", "--set", 'output.fields=["position"]')
        for option, formula, said in (("--select", "x > 2 and speed > 2", "'speed' is of the velocities"),
                                      ("--color-by", "vy * 2", "'vy' is of the velocities"),
                                      ("--select", "spin > 0", "'spin' is of the spins")):
            result = self.carom("render", "two.h5", "-o", "out.png", option, formula)
            said = f"carom: {option}: {said}, which the frames do not hold (output.fields)\n"
            self.assertEqual((result.status, result.err), (2, said), formula)
        self.succeed("render", "two.h5", "-o", "out.png", "--select", "x > 2 or mass > 0")

    def test_a_time_beyond_the_end_of_a_scene_is_said(self):
        for when, said in (("1", ""), ("2.5", "carom: --time: run.until is 1: the run goes on to 2.5\n")):
            err = self.succeed("render", "two.toml", "-o", "out.png", "--force", "--time", when).err
            self.assertEqual(err, said + "out.png (1 frame)\n")

    def test_the_space_that_a_moving_wall_has_left_looks_as_outside(self):
        self.write("piston.toml", TWO.replace("velocity = [1.0, 0.0]", "") + """
[[wall]]
shape = "plane"
normal = [1.0, 0.0]
velocity = 1.0
""")
        for when in (0.0, 1.0):
            self.succeed("render", "piston.toml", "-o", "out.png", "--force", "--bare", "--time", str(when))
            picture = pixels(self.folder / "out.png")
            metre = 1248 / 10.0
            behind, before = (picture[400, int(16 + x * metre)] for x in (0.5, 1.2))
            self.assertGreater(abs(before - picture[2, 2]).max(), 8)
            self.assertLessEqual(abs(behind - (before if when == 0.0 else picture[2, 2])).max(), 0)

    def test_no_number_of_a_run_depends_on_its_look(self):
        look = '[look]\nfloor = "#1B6E46"\ncolors = "#FAFAFA"\ncushion = 0.5\nnumbers_from = 0\npattern = "stripe"\n'
        self.write("dressed.toml", TWO + look)
        plain, dressed = (self.run_json(f"{name}.toml") for name in ("two", "dressed"))
        self.assertEqual(dressed["state_hash"], plain["state_hash"])
        for name in ("two", "dressed"):
            self.succeed("render", f"{name}.h5", "-o", f"{name}.png", "--bare")
        self.assertGreater(abs(pixels(self.folder / "dressed.png") - pixels(self.folder / "two.png")).mean(), 10)
        self.write("wrong.toml", TWO + '[look]\nfloor = "green"\n')
        result = self.carom("check", "wrong.toml")
        self.assertEqual(result.status, 2)
        self.assertRegex(result.err, r'wrong\.toml:30:9: look\.floor: must look like "#E91E63", not "green"')

    def test_a_check_refuses_what_pictures_would(self):
        for key, value in [("range", "1"), ("clip", "0:1"), ("select", "x <"), ("camera", "sideways"), ("color_by", "sped"),
                           ("colormap", "jet")]:
            with self.subTest(key):
                self.write("wrong.toml", TWO + f'[look]\n{key} = "{value}"\n')
                checked, drawn = self.carom("check", "wrong.toml"), self.carom("render", "wrong.toml", "-o", "wrong.png")
                self.assertRegex(checked.err, rf"\Acarom: wrong\.toml:30:\d+: look\.{key}: ")
                self.assertEqual((checked.status, checked.err), (drawn.status, drawn.err))

    def test_a_transparent_picture_laid_over_paper_is_the_other_one(self):
        for scene, options in (("two.toml", []), ("spheres3d_frictionless", ["--plain"])):
            for name, more in (("opaque", []), ("through", ["--transparent"])):
                self.succeed("render", scene, "-o", f"{name}.png", "--bare", "--time", "0", "--force", *options, *more)
            opaque = pixels(self.folder / "opaque.png")
            raw = subprocess.run(["ffmpeg", "-v", "error", "-i", self.folder / "through.png", "-f", "rawvideo", "-pix_fmt",
                                  "rgba", "-"], capture_output=True, check=True).stdout
            through = numpy.frombuffer(raw, numpy.uint8).reshape(*opaque.shape[:2], 4).astype(float)
            self.assertEqual(through[2, 2, 3], 0)
            self.assertEqual(through[:, :, 3].max(), 255)
            shown = through[:, :, 3:] / 255
            laid = through[:, :, :3] * shown + (1 - shown) * opaque[2, 2]
            inside = through[:, :, 3] > 0 if scene == "two.toml" else numpy.ones(opaque.shape[:2], bool)
            # In 2D balls stand on the inside of the box, which is not there: their rims are of another colour.
            self.assertLess(abs(laid - opaque)[inside].mean(), 3)
            self.assertLess(abs(laid - opaque)[through[:, :, 3] == 255].max(), 2)

    def test_more_samples_are_a_better_mean(self):
        pictures = {}
        for samples in (1, 4, 16):
            self.succeed("render", "spheres3d_frictionless", "-o", "out.png", "--bare", "--time", "0", "--force", "--plain",
                         "--samples", str(samples), "--size", "400x300")
            pictures[samples] = pixels(self.folder / "out.png")
        off = {samples: abs(pictures[samples] - pictures[16]).mean() for samples in (1, 4)}
        self.assertGreater(off[1], 1.5 * off[4])
        self.assertGreater(off[4], 0)

    def test_a_ball_is_followed_and_the_camera_moves_by_its_keys(self):
        options = ["--bare", "--size", "400x400", "--camera", "zoom=3"]
        for when in ("0", "1"):
            self.succeed("render", "two.toml", "-o", "out.png", "--time", when, "--follow", "0", "--force", *options)
            columns = columns_of(pixels(self.folder / "out.png"), PINK)
            self.assertAlmostEqual(sum(columns[0]) / 2, 199.5, delta=1)
        widths = []
        for when in ("0", "0.25", "0.5", "1"):  # zooms grow by equal ratios, up to the last key
            self.succeed("render", "two.toml", "-o", "out.png", "--time", when, "--follow", "0", "--force", "--bare", "--size",
                         "1000x1000", "--camera-at", "0:zoom=1", "--camera-at", "0.5:zoom=4")
            first, last = columns_of(pixels(self.folder / "out.png"), PINK)[0]
            widths.append(last - first + 1)
        for width, zoom in zip(widths[1:], (2, 4, 4)):
            self.assertAlmostEqual(width / widths[0], zoom, delta=0.3)

    def test_balls_that_a_plane_cuts_are_closed(self):
        self.write("one.toml", """
[scene]
dimension = 3
[box]
size = [4.0, 4.0, 4.0]
[run]
until = 1.0
backend = "cpu"
[[ball]]
radius = 1.5
mass = 1.0
position = [2.0, 2.0, 2.0]
color = "#E91E63"
""")
        options = ["--bare", "--plain", "--time", "0", "--size", "400x400", "--color-by", "species", "--force"]
        def pink(*more):
            self.succeed("render", "one.toml", "-o", "out.png", *options, *more)
            picture = pixels(self.folder / "out.png")
            return (picture[:, :, 0] > 1.8 * picture[:, :, 1]) & (picture[:, :, 0] > 60), picture
        whole, _ = pink("--camera", "front")
        # From the front all of it is there, flat; from the side half of it.
        cut, picture = pink("--camera", "front", "--clip", "0:-1:0:-2")
        self.assertAlmostEqual(cut.sum() / whole.sum(), 1.0, delta=0.01)
        flat = picture[170:230, 170:230]
        self.assertLess(flat.std(axis=(0, 1)).max(), 4)
        half, _ = pink("--camera", "side", "--clip", "0:-2:0:-2")  # a normal of any length
        self.assertAlmostEqual(half.sum() / whole.sum(), 0.5, delta=0.02)
        self.assertEqual(pink("--camera", "front", "--clip", "0:-1:0:-4")[0].sum(), 0)

    def test_a_stored_run_looks_like_the_run(self):
        self.write("gas.toml", GAS)
        self.succeed("run", "gas.toml", "--quiet", "-o", "gas.h5")
        self.succeed("render", "gas.toml", "-o", "run.png")
        self.succeed("render", "gas.h5", "-o", "stored.png")
        difference = abs(pixels(self.folder / "run.png") - pixels(self.folder / "stored.png"))
        self.assertLessEqual(difference.max(), 1)

    def test_a_folder_gets_a_picture_a_frame(self):
        self.succeed("render", "two.toml", "-o", "frames/", "--size", "200x100")
        self.assertEqual(sorted(path.name for path in (self.folder / "frames").iterdir()),
                         [f"frame-{k:06}.png" for k in range(5)])
        again = self.carom("render", "two.toml", "-o", "frames/", "--size", "200x100")
        self.assertEqual(again.status, 2)
        self.assertIn("--force", again.err)
        self.succeed("render", "two.toml", "-o", "frames/", "--size", "200x100", "--force")

    def test_a_folder_of_pictures_holds_those_of_one_run(self):
        names = lambda: sorted(p.name for p in (self.folder / "frames").iterdir())
        self.succeed("render", "two.toml", "-o", "frames/", "--size", "200x100")
        (self.folder / "frames" / "frame-000000.png").unlink()
        self.assertEqual(self.carom("render", "two.toml", "-o", "frames/", "--size", "200x100").status, 2)
        (self.folder / "frames" / "frame-notes.png").write_text("")
        self.succeed("render", "two.toml", "-o", "frames/", "--size", "200x100", "--every", "0.5", "--force")
        self.assertEqual(names(), [f"frame-{k:06}.png" for k in range(3)] + ["frame-notes.png"])

    def test_no_picture_of_a_folder_takes_the_place_of_what_is_read(self):
        self.succeed("run", "two.toml", "--quiet", "-o", "two.h5")
        pictures = self.folder / "pictures"
        pictures.mkdir()
        (pictures / "frame-000002.png").symlink_to("../two.h5")
        (pictures / "frame-000003.png").write_text(TWO)
        (pictures / "frame-000004.png").write_text("[look]\nglow = true\n")
        (pictures / "frame-000009.png").write_text("x,y\n2,2\n")
        self.write("loads.toml", TWO.split("[[ball]]")[0] + '''[[load]]
species = "pin"
file = "pictures/frame-000009.png"
format = "csv"
''')
        before = {path: path.read_bytes() for path in pictures.iterdir()}
        for source, number in ((["two.h5"], 2), (["pictures/frame-000003.png"], 3),
                               (["two.toml", "--look", "pictures/frame-000004.png"], 4), (["loads.toml"], 9)):
            with self.subTest(source):
                result = self.carom("render", *source, "-o", "pictures/", "--size", "200x100", "--force")
                self.assertEqual((result.status, result.err),
                                 (2, f"carom: pictures/frame-{number:06}.png: is the input, and would be overwritten; "
                                     "name another file\n"))
                self.assertEqual({path: path.read_bytes() for path in pictures.iterdir()}, before)

    def test_a_movie_may_have_any_name(self):
        self.succeed("render", "two.toml", "-o", "time:1.mp4", "--size", "200x100")
        self.assertGreater((self.folder / "time:1.mp4").stat().st_size, 500)

    def test_too_many_frames_are_refused(self):
        self.succeed("run", "two.toml", "--quiet", "-o", "two.h5")
        events = ["--set", "run.solver=events"]  # springs: no more frames than steps
        for source, every, options in [("two.toml", "1e-9", events), ("two.h5", "1e-9", []), ("two.h5", "1e-300", [])]:
            result = self.carom("render", source, "-o", "frames/", "--every", every, *options)
            self.assertEqual(result.status, 2, result.err)
            self.assertRegex(result.err, r"\Acarom: --every: makes \S+ frames; allowed: up to 1000000\n\Z")
            self.assertFalse((self.folder / "frames").exists())

    def test_a_small_box_has_its_lines_in_perspective(self):
        inks = []
        for scale in (1.0, 1e-4):
            self.write("box.toml", f"""
[scene]
dimension = 3
[box]
size = [{4 * scale}, {4 * scale}, {4 * scale}]
[run]
until = 1.0
backend = "cpu"
""")
            self.succeed("render", "box.toml", "-o", "box.png", "--bare", "--force", "--time", "0", "--camera",
                         "perspective,azimuth=40,elevation=15")
            picture = pixels(self.folder / "box.png")
            inks.append((abs(picture - picture[0, 0]).max(axis=2) > 20).sum())
        self.assertGreater(inks[0], 1000)
        # The same picture, but for the roundings of its lines' rims.
        self.assertAlmostEqual(inks[1] / inks[0], 1.0, delta=0.01)

    def test_more_species_than_a_texture_is_wide(self):
        count = 20000  # 16384 are what the software renderer can put in one row
        text = '[scene]\ndimension = 2\n[box]\nsize = [10.0, 5.0]\n[run]\nuntil = 1.0\nbackend = "cpu"\n'
        for k in range(count):
            color = "#E91E63" if k == count - 1 else "#2196F3"
            text += f'[[species]]\nname = "s{k}"\nradius = 0.5\nmass = 1.0\ncolor = "{color}"\n'
        for k, x in [(0, 2.0), (count - 1, 8.0)]:
            text += f'[[ball]]\nspecies = "s{k}"\nposition = [{x}, 2.5]\n'
        self.write("many.toml", text)
        self.succeed("render", "many.toml", "-o", "many.png", "--bare", "--time", "0")
        picture = pixels(self.folder / "many.png")
        self.assertEqual(len(columns_of(picture, (0x21, 0x96, 0xF3))), 1)
        pink = columns_of(picture, PINK)
        self.assertEqual(len(pink), 1)
        self.assertGreater(pink[0][0], picture.shape[1] // 2)

    def test_a_movie_has_a_frame_for_each_and_the_rate_asked_for(self):
        self.succeed("run", "two.toml", "--quiet", "-o", "two.h5")
        for kind in ("webm", "gif"):
            self.succeed("render", "two.h5", "-o", f"two.{kind}", "--size", "201x101", "--fps", "10")
            count = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames",
                                    "-of", "csv=p=0", self.folder / f"two.{kind}"], capture_output=True, text=True, check=True)
            self.assertEqual(int(count.stdout.strip().strip(",")), 5)
        for source, options, frames in [("two.h5", [], 5), ("two.toml", ["--every", "0.1"], 11)]:
            self.succeed("render", source, "-o", "two.mp4", "--size", "201x101", "--fps", "12", "--force", *options)
            probe = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries",
                                    "stream=nb_read_frames,r_frame_rate,width,height", "-of", "json",
                                    self.folder / "two.mp4"], capture_output=True, text=True, check=True)
            stream = json.loads(probe.stdout)["streams"][0]
            self.assertEqual(int(stream["nb_read_frames"]), frames)
            self.assertEqual(stream["r_frame_rate"], "12/1")
            self.assertEqual((stream["width"], stream["height"]), (202, 102))  # H.264 wants even sizes

    def test_a_film_has_charts_beside_the_balls(self):
        self.write("fall.toml", TWO.replace("[box]", "[physics]\ngravity = [0, -9.81]\n[box]"))
        self.succeed("run", "fall.toml", "--quiet", "-o", "fall.h5")
        charts = ["--chart", "total_energy", "--chart", "drift:kinetic_energy"]
        shown = []
        for frame in ("0", "2", "4"):
            self.succeed("render", "fall.h5", "-o", "out.png", "--frame", frame, *charts, "--force", "--size", "800x400")
            shown.append(pixels(self.folder / "out.png"))
        # The balls are where the charts are not, and these hold a curve each, of which more and more is bright.
        right = 800 - int(0.36 * 800)
        self.assertLess(max(last for _, last in columns_of(shown[0], PINK)[:2]), right)
        curve = lambda picture: (abs(picture - numpy.array([240, 181, 61])).max(axis=2) < 25)[:, right:]
        for half in (slice(0, 200), slice(200, 400)):
            bright = [int(curve(picture)[half].any(axis=0).sum()) for picture in shown]
            self.assertLess(bright[0], 20)
            self.assertGreater(bright[1], bright[0] + 50)
            self.assertGreater(bright[2], bright[1] + 50)
        for arguments, words in [(["fall.toml", "--chart", "energy"], "--chart: is for stored runs"),
                                 (["fall.h5", "--chart", "mood"], "holds no quantity 'mood'"),
                                 (["fall.h5"] + 5 * ["--chart", "energy"], "--chart: more than 4")]:
            result = self.carom("render", *arguments, "-o", "none.png")
            self.assertEqual((result.status, result.err.count("\n")), (2, 1), result.err)
            self.assertIn(words, result.err)

    def test_the_numbers_of_the_run_are_written_over_it(self):
        self.succeed("render", "two.toml", "-o", "overlay.png", "--overlay")
        picture = pixels(self.folder / "overlay.png")
        paper = abs(picture - picture[400, 2]).max(axis=2) > 20  # what is not
        box = numpy.flatnonzero(paper[300:500].all(axis=0))[0]  # its left edge
        rows, columns = numpy.nonzero(paper[60:250, : box - 4])
        self.assertGreater(len(rows), 300, "numbers")
        self.assertLess(columns.max(), box - 15, "and not on the box")

    def test_a_legend_of_many_letters_ends_within_the_picture(self):
        widths = []
        for color in ("how far: sqrt(x^2 + y^2)", "sqrt((x - 5.0)^2 + (y - 2.5)^2) * mass / radius"):
            self.succeed("render", "two.toml", "-o", "legend.png", "--force", "--time", "0", "--size", "800x600", "--color-by", color)
            ink = (pixels(self.folder / "legend.png")[38:56].min(axis=2) > 150).any(axis=0)  # above the bar
            columns = numpy.flatnonzero(ink)
            self.assertLess(columns[-1], 800 - 3, color)
            self.assertGreaterEqual(columns[0], 0.8 * 800 - 1, "a fifth of the width at most")
            widths.append(columns[-1] - columns[0])
        self.assertLess(widths[0], 60, "its name alone")
        self.assertGreater(widths[1], 120, "as much as there is room for")

    def test_arrows_have_a_scale(self):
        for name, options in (("without", []), ("with", ["--arrows"])):
            self.succeed("render", "two.toml", "-o", f"{name}.png", "--time", "0", *options)
        changed = abs(pixels(self.folder / "with.png") - pixels(self.folder / "without.png")).max(axis=2) > 60
        rows, columns = numpy.nonzero(changed[740:])  # beside the scale
        self.assertGreater(len(rows), 60)
        # The ball at 1 m/s has an arrow of four radii, 2 m; that of 1 m/s in the key is as long.
        metre = 1116 / 10.0
        row = numpy.bincount(rows).argmax()
        shaft = numpy.unique(columns[rows == row])
        shaft = numpy.split(shaft, numpy.flatnonzero(numpy.diff(shaft) > 1) + 1)[0]
        self.assertAlmostEqual(shaft[-1] - shaft[0], 2 * metre, delta=4)

    def test_every_quantity_can_be_shown(self):
        for what in ["species", "speed", "kinetic-energy", "spin", "overlap", "id", "height", "density",
                     "temperature", "flow"]:
            self.succeed("render", "two.toml", "-o", "out.png", "--force", "--color-by", what, "--camera", "zoom=1.5")

    def test_a_colour_map_is_taken_as_asked(self):
        spread = {}
        for name in ["viridis", "grey", "ember"]:
            self.succeed("render", "two.toml", "-o", "out.png", "--force", "--color-by", "speed", "--bare",
                         "--colormap", name, "--time", "0")
            picture = pixels(self.folder / "out.png")
            spread[name] = (picture.max(axis=2) - picture.min(axis=2)).max()  # of the channels: colourfulness
        self.assertLess(spread["grey"], 30)  # the background's own
        self.assertGreater(spread["viridis"], 100)
        self.assertGreater(spread["ember"], 45)

    def test_contacts_and_trails_are_drawn(self):
        options = ["--bare", "--size", "400x400", "--force"]
        self.write("near.toml", TWO.replace("[8.0, 2.5]", "[2.99, 2.5]"))
        for more in ([], ["--contacts"]):
            self.succeed("render", "near.toml", "-o", f"near{len(more)}.png", "--time", "0", *options, *more)
        changed = abs(pixels(self.folder / "near0.png") - pixels(self.folder / "near1.png")).max(axis=2) > 30
        rows, columns = numpy.nonzero(changed)
        self.assertAlmostEqual(columns.max() - columns.min(), 0.99 * 368 / 10, delta=18)  # from centre to centre, and ends
        for more in ([], ["--trails", "0"]):
            self.succeed("render", "two.toml", "-o", f"trails{len(more)}/", *options, *more)
        lengths = []
        for k in (0, 4):
            one, other = (pixels(self.folder / f"trails{n}" / f"frame-{k:06}.png") for n in (0, 2))
            columns = numpy.nonzero(abs(one - other).max(axis=2) > 12)[1]
            lengths.append(columns.max() - columns.min() if len(columns) else 0)
        self.assertEqual(lengths[0], 0)
        self.assertAlmostEqual(lengths[1], 368 / 10, delta=8)  # a second at 1 m/s

    def test_arrows_point_along_velocities(self):
        for options in ["", "--arrows"]:
            self.succeed("render", "two.toml", "-o", f"out{options}.png", "--bare", "--time", "0", *options.split())
        bare, arrows = pixels(self.folder / "out.png"), pixels(self.folder / "out--arrows.png")
        rows, columns = numpy.nonzero(abs(bare - arrows).max(axis=2) > 20)
        # The ball at x = 2 flies to the right, the one at 8 rests. The box is 10 wide.
        unit = 1248 / 10
        self.assertLess(abs(columns.min() - (16 + 2 * unit)), 4)
        self.assertLess(abs(columns.max() - (16 + 4 * unit)), 4)  # two radii of 0.5, times four
        self.assertLess(rows.max() - rows.min(), 0.8 * unit)

    def test_the_ways_into_a_picture_are_measured(self):
        result = self.carom("bench", "--viewer", "--sizes", "300", "--dimension", "2", "--backend", "cpu", "--quick",
                            "--quiet", "-o", "bench.json")
        self.assertEqual(result.status, 0, result.err)
        self.assertRegex(result.out, r"2D +300 +cpu +written")
        report = json.loads((self.folder / "bench.json").read_text())
        self.assertEqual([row["path"] for row in report["rows"]], ["written", "frames"])
        self.assertEqual(report["left_out"], [])
        for row in report["rows"]:
            self.assertEqual((row["balls"], row["dimension"], row["backend"]), (300, 2, "cpu"))
            self.assertEqual((row["largest_difference"], row["differing_share"]), (0, 0))
            self.assertGreaterEqual(row["pictures"], 3)
            self.assertAlmostEqual(row["frames_per_second"], 1 / (row["fill_seconds"] + row["draw_seconds"]))
        result = self.carom("bench", "--viewer", "--limit", "3")
        self.assertEqual((result.status, result.err), (2, "carom: --limit: not with --viewer\n"))

    def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(self):
        self.write("taken.png", "something")
        for arguments, words in [
            ([], r"no output given"),
            (["-o", "a.avi"], r"--output a\.avi: a picture ends in \.png, a movie in \.mp4, \.webm or \.gif, a folder in /"),
            (["-o", "a.mp4", "--transparent"], r"--transparent: is for pictures, not for movies"),
            (["-o", "a.png", "--samples", "3"], r"--samples: 3 is not 1, 4 or 16"),
            (["-o", "a.png", "--follow", "2"], r"--follow: there is no ball 2; there are those from 0 to 1"),
            (["-o", "a.png", "--clip", "0:0:0:1"], r"--clip: '0:0:0:1' is not NX:NY:NZ:OFFSET"),
            (["-o", "a.png", "--clip", "0:1:2"], r"--clip: '0:1:2' is not NX:NY:NZ:OFFSET"),
            (["-o", "a.png", "--camera-at", "zoom=2"], r"--camera-at: 'zoom=2' is not T:HOW"),
            (["-o", "a.png", "--camera-at", "1:zoom=2", "--camera-at", "1:zoom=3"], r"--camera-at: times must grow"),
            (["-o", "a.png", "--look", "taken.png"], r"taken\.png"),
            (["-o", "taken.png"], r"taken\.png: exists already; --force"),
            (["-o", "a.png", "--size", "640"], r"--size: '640' is not WIDTHxHEIGHT"),
            (["-o", "a.png", "--size", "63x64"], r"--size: '63' is not a whole number from 64 up"),
            (["-o", "a.png", "--size", "20000x100"], r"--size: more than 16384"),
            (["-o", "a.png", "--color-by", "mood"], r"--color-by: 'mood' is not known; allowed: species, speed"),
            (["-o", "a.png", "--color-by", "x + sped"], r"--color-by: \"x \+ sped\", character 5: 'sped' is not known; allowed: id"),
            (["-o", "a.png", "--select", "x >"], r"--select: \"x >\", character 4: it ends too early"),
            (["-o", "a.png", "--copies", "4"], r"--copies: more than 3"),
            (["-o", "a.png", "--set", "look.select=x <"], r"look\.select: \"x <\", character 4"),
            (["-o", "a.png", "--clip", ",".join(["0:1:0:2"] * 7)], r"--clip: more than 6 planes"),
            (["-o", "a.png", "--colormap", "jet"], r"--colormap: 'jet' is not known; allowed: viridis, ember"),
            (["-o", "a.png", "--range", "3"], r"--range: '3' is not LOW:HIGH"),
            (["-o", "a.png", "--range", "3:1"], r"--range: HIGH must be greater than LOW"),
            (["-o", "a.png", "--camera", "upside-down"], r"--camera: 'upside-down' is not known; allowed"),
            (["-o", "a.png", "--camera", "zoom=x"], r"--camera: zoom: 'x' is not a number"),
            (["-o", "a.png", "--camera", "target=1"], r"--camera: target: '1' is not X:Y"),
            (["-o", "a.png", "--last", "--time", "1"], r"--last, --time and --frame exclude each other"),
            (["-o", "a.mp4", "--last"], r"for single pictures, not for movies"),
            (["-o", "a.mp4", "--fps", "0"], r"--fps: must be greater than 0"),
            (["-o", "a.mp4", "--every", "0"], r"--every: must be greater than 0"),
            (["-o", "a.png", "--set", "box.size=[1]"], r"box\.size"),
        ]:
            with self.subTest(arguments):
                result = self.carom("render", "two.toml", *arguments)
                self.assertEqual(result.status, 2, result.err)
                self.assertRegex(result.err, rf"\Acarom: .*{words}.*\n\Z")
                self.assertEqual(self.files(), ["taken.png", "two.toml"])
        result = self.carom("render")
        self.assertEqual((result.status, result.err.count("\n")), (2, 1))
        missing = self.carom("render", "nothing.h5", "-o", "a.png")
        self.assertEqual((missing.status, missing.err.count("\n")), (4, 1))

    def test_a_stored_run_cannot_be_changed(self):
        self.succeed("run", "two.toml", "--quiet", "-o", "two.h5")
        result = self.carom("render", "two.h5", "-o", "a.png", "--until", "3")
        self.assertEqual(result.status, 2)
        self.assertIn("stored run", result.err)
        result = self.carom("render", "two.h5", "-o", "a.png", "--frame", "5")
        self.assertEqual(result.status, 2)
        self.assertIn("holds the frames 0 to 4", result.err)

    def test_an_older_opengl_is_named_with_the_one_that_is_needed(self):
        old = dict(os.environ, MESA_GL_VERSION_OVERRIDE="4.1", LIBGL_ALWAYS_SOFTWARE="1")
        result = self.carom("render", "two.toml", "-o", "a.png", env=old)
        self.assertEqual(result.status, 4)
        self.assertRegex(result.err, r"\Acarom: pictures need OpenGL 4\.5, and 4\.1 .*was found; .*\n\Z")
        self.assertEqual(self.files(), ["two.toml"])

    @unittest.skipIf(cached("CAROM_SANITIZE") != "", "sanitizers reserve terabytes of address space")
    def test_under_a_limit_of_memory_a_picture_is_drawn_or_refused_in_one_line(self):
        statuses = []
        for size, first, last in (("64x64", 230, 730), ("2400x1600", 500, 1300)):
            for megabytes in range(first, last, 40):
                limit = megabytes << 20
                result = self.carom("render", "two.toml", "-o", "a.png", "--size", size, "--force",
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
                self.assertIn(result.status, (0, 4), f"{size}, {megabytes} MB: {result.err}")
                if result.status == 4:
                    self.assertRegex(result.err, r"\Acarom: [^\n]+\n\Z")
                statuses.append(result.status)
        self.assertEqual(set(statuses), {0, 4})

    def test_no_egl_is_said_and_a_run_does_not_mind(self):
        none = dict(os.environ, __EGL_VENDOR_LIBRARY_FILENAMES="/nonexistent.json")
        result = self.carom("render", "two.toml", "-o", "a.png", env=none)
        self.assertEqual(result.status, 4)
        self.assertRegex(result.err, r"\Acarom: pictures need .*EGL.*\n\Z")
        self.succeed("run", "two.toml", "--quiet", env=none)
        self.assertRegex(self.succeed("info", env=none).out, r"(?m)^  OpenGL +none: pictures need EGL")

    def test_info_names_opengl(self):
        self.assertRegex(self.succeed("info").out, r"(?m)^  OpenGL +4\.\d.*, ")

    def test_without_ffmpeg_a_movie_is_refused_in_one_line(self):
        result = self.carom("render", "two.toml", "-o", "a.mp4", env=dict(os.environ, PATH=str(self.folder)))
        self.assertEqual(result.status, 4)
        self.assertRegex(result.err, r"\Acarom: movies are made by ffmpeg, which is not installed.*\n\Z")
        self.assertEqual(self.files(), ["two.toml"])

    def test_what_ffmpeg_dies_of_is_said_in_one_line(self):
        fake = self.folder / "ffmpeg"
        fake.write_text("#!/bin/sh\nhead -c 1000 >/dev/null\necho first >&2\necho 'no room for it' >&2\nexit 7\n")
        fake.chmod(0o755)
        environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}")
        result = self.carom("render", "two.toml", "-o", "a.mp4", env=environment)
        self.assertEqual(result.status, 4)
        self.assertEqual(result.err, "carom: ffmpeg could not write a.mp4 (status 7): no room for it\n")
        self.assertEqual(self.files(), ["ffmpeg", "two.toml"])

    def movie_with_fake_ffmpeg(self, path):
        """One that never ends by itself, nor by SIGTERM; path: folders to look in before."""
        fake = self.folder / "ffmpeg"
        fake.write_text("#!/bin/sh\ntrap '' TERM\nexec sleep 60\n")
        fake.chmod(0o755)
        process = self.start("render", "two.toml", "-o", "a.mp4", env=dict(os.environ, PATH=f"{path}{self.folder}:{os.environ['PATH']}"))
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not (child := children.read_text()):
            self.assertIsNone(process.poll())
        return process, int(child)

    @staticmethod
    def has_ended(process):
        try:
            return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    def test_a_second_signal_ends_ffmpeg_too(self):
        """It would begin the file anew that carom has removed."""
        # Among so many folders it takes a moment to find it, at whose end both signals come at once.
        for path in ("", "a:" * 60000):
            process, child = self.movie_with_fake_ffmpeg(path)
            time.sleep(0 if path else 0.5)
            process.send_signal(signal.SIGINT)
            while process.poll() is None:
                process.send_signal(signal.SIGTERM)
                time.sleep(0.1)
            process.communicate()
            # Killed, it is taken away by who inherits it, in a moment; left alone, it would sleep for a minute.
            deadline = time.monotonic() + 30.0
            while not self.has_ended(child):
                self.assertLess(time.monotonic(), deadline, "ffmpeg goes on")
                time.sleep(0.05)
            self.assertEqual(self.files(), ["ffmpeg", "two.toml"])

    def test_help_is_in_the_pages(self):
        page = (SOURCE / "docs" / "viewer.md").read_text()
        for option in ["--size", "--fps", "--every", "--color-by", "--range", "--camera", "--overlay", "--bare",
                       "--light", "--colormap", "--arrows", "--plain", "--contacts", "--trails", "--clip", "--select", "--copies", "--glow", "--chart", "--look", "--follow", "--camera-at", "--samples",
                       "--transparent", "--frame", "--time", "--last"]:
            self.assertIn(option, page)


if __name__ == "__main__":
    unittest.main()
