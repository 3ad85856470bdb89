"""carom view under an X server without a screen: real windows, real keys, real mouse."""

import ctypes
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
import time
import unittest

import h5py
import numpy

from program import ProgramTest
from render_test import PINK, TWO, columns_of, pixels

WIDTH, HEIGHT = 640, 480


class Screen:
    """Xvfb, with its picture in a file."""

    def __init__(self):
        for program in ("Xvfb", "xdotool"):
            if shutil.which(program) is None:
                raise RuntimeError(f"{program} is not installed; scripts/install-deps.sh --test")
        self.folder = tempfile.mkdtemp(prefix="carom-screen-")
        reader, writer = os.pipe()
        # Without -noreset it begins anew when its last window is gone, and shuts out whoever comes meanwhile; with it, and
        # without -nocursor, the pointer is seen when no window is.
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{WIDTH}x{HEIGHT}x24",
                                        "-nolisten", "tcp", "-r", "-noreset", "-nocursor", "-fbdir", self.folder], pass_fds=[writer],
                                       stderr=subprocess.DEVNULL)
        os.close(writer)
        with os.fdopen(reader) as lines:  # the server writes the number and the end of the line one after the other
            number = lines.readline().strip()
        if not number:
            raise RuntimeError(f"Xvfb does not start, status {self.server.wait()}")
        self.display = ":" + number
        self.environment = dict(os.environ, DISPLAY=self.display)

    def close(self):
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def pixels(self):
        """What is on the screen, from the server's own memory (in the format of xwd)."""
        data = (pathlib.Path(self.folder) / "Xvfb_screen0").read_bytes()
        header = struct.unpack(">25I", data[:100])
        start = header[0] + 12 * header[19]
        stride = header[12]
        picture = numpy.frombuffer(data, numpy.uint8, HEIGHT * stride, start).reshape(HEIGHT, stride)
        return picture[:, : 4 * WIDTH].reshape(HEIGHT, WIDTH, 4)[:, :, 2::-1].astype(int)

    def do(self, *words):
        subprocess.run(["xdotool", *map(str, words)], env=self.environment, check=True)

    def x11(self):
        """Xlib, and a connection of its own."""
        library = ctypes.CDLL("libX11.so.6")
        library.XOpenDisplay.restype = ctypes.c_void_p
        for name in ("XInternAtom", "XDefaultRootWindow", "XCreateSimpleWindow"):
            getattr(library, name).restype = ctypes.c_ulong
        return library, ctypes.c_void_p(library.XOpenDisplay(self.display.encode()))

    def clipboard(self):
        """What has been copied: whoever has copied it is asked for it."""
        library, display = self.x11()
        root = ctypes.c_ulong(library.XDefaultRootWindow(display))
        window = ctypes.c_ulong(library.XCreateSimpleWindow(display, root, 0, 0, 1, 1, 0, ctypes.c_ulong(0), ctypes.c_ulong(0)))
        atom = lambda name: ctypes.c_ulong(library.XInternAtom(display, name, 0))
        library.XConvertSelection(display, atom(b"CLIPBOARD"), atom(b"UTF8_STRING"), atom(b"CAROM"), window, ctypes.c_ulong(0))
        event = ctypes.create_string_buffer(192)
        selection_notify, words, size = 31, ctypes.c_char_p(), ctypes.c_ulong()
        for _ in range(500):
            if library.XCheckTypedWindowEvent(display, window, selection_notify, event):
                break
            time.sleep(0.02)
        library.XGetWindowProperty(display, window, atom(b"CAROM"), ctypes.c_long(0), ctypes.c_long(65536), 0, ctypes.c_ulong(0),
                                   ctypes.byref(ctypes.c_ulong()), ctypes.byref(ctypes.c_int()), ctypes.byref(size),
                                   ctypes.byref(ctypes.c_ulong()), ctypes.byref(words))
        text = words.value.decode() if size.value else ""
        library.XCloseDisplay(display)
        return text


def asleep(pid):
    """Whether no thread of a process has anything to do, nor waits for a processor."""
    try:
        return all(path.read_text().rpartition(")")[2].split()[0] in "SI"
                   for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"))
    except (FileNotFoundError, ProcessLookupError):  # a thread that has just ended
        return False


def threads_of(pid):
    """What each thread of a process waits for, as far as the system tells: name, state, place in the kernel."""
    told = []
    for task in sorted(pathlib.Path(f"/proc/{pid}/task").glob("*")):
        read = lambda name: (task / name).read_text().strip()
        try:
            told.append(f"{read('comm')} {read('stat').rpartition(')')[2].split()[0]} {read('wchan')}")
        except OSError:  # it has just ended
            pass
    return "; ".join(told)


class View(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.screen = Screen()
        cls.addClassCleanup(cls.screen.close)

    def setUp(self):
        super().setUp()
        self.write("two.toml", TWO)

    def open(self, *arguments):
        """Opens a window of the screen's size and waits until it shows something."""
        self.until(lambda: self.screen.pixels().max() == 0)  # what was there before has gone
        self.screen.do("mousemove", WIDTH // 2, HEIGHT // 2)
        process = self.start("view", *arguments, "--size", f"{WIDTH}x{HEIGHT}", env=self.screen.environment)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.until(lambda: self.screen.pixels().max() > 0, process)
        if "--paused" in arguments:
            self.settle(process)
        return process

    def until(self, condition, process=None, seconds=60, pause=0.05):
        end = time.time() + seconds
        while not condition():
            if process is not None and process.poll() is not None:
                self.fail(f"the window is gone, status {process.returncode}: {process.stderr.read()}")
            if time.time() >= end:
                if process is None:
                    self.fail("nothing happened")
                seen = pathlib.Path(os.environ["CAROM_BUILD_DIR"]) / "tests/window_test_failed.ppm"
                seen.write_bytes(b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + self.screen.pixels().astype(numpy.uint8).tobytes())
                self.fail(f"nothing happened ({threads_of(process.pid)}); files: {sorted(os.listdir(self.folder))}; "
                          f"copied: {self.screen.clipboard()!r}; seen: {seen}")
            time.sleep(pause)

    def settle(self, process):
        """Waits until a window that stands still has drawn what there was to draw: it and the server sleep. What waits
        for a processor does not, however loaded the machine is."""
        looks = 0

        def quiet():
            nonlocal looks
            looks = looks + 1 if asleep(process.pid) and asleep(self.screen.server.pid) else 0
            return looks >= 4

        self.until(quiet, process, pause=0.012)

    def act(self, process, *steps):
        """Does one after the other, each when the window has answered the one before; gives what it shows then."""
        for step in steps:
            self.screen.do(*step)
            self.settle(process)
        return self.screen.pixels()

    def drag(self, process, x, y, right, down, button=1):
        """All but letting go."""
        return self.act(process, ["mousemove", x, y], ["mousedown", button], ["mousemove", x + right // 2, y + down // 2],
                        ["mousemove", x + right, y + down])

    def play(self, process, condition):
        """Lets time go on until the condition holds, then waits until all stands still."""
        self.screen.do("key", "space")
        self.until(condition, process)
        self.act(process, ["key", "space"])

    def record(self, process, name):
        """A film of what moves, of some pictures at least."""
        seen = set()
        self.screen.do("key", "r")
        self.until(lambda: seen.add(self.screen.pixels().tobytes()) or len(seen) > 12, process)
        self.screen.do("key", "r")
        self.until(lambda: (self.folder / name).exists(), process)

    def close(self, process):
        """Presses Escape, again where it is asked; gives what was said, and checks the status."""
        self.until(lambda: self.screen.do("key", "Escape") or process.poll() is not None, seconds=30, pause=0.4)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(out, "")
        self.until(lambda: self.screen.pixels().max() == 0)
        return err

    def picture(self, name, process):
        """Presses S; gives the picture that was written."""
        self.act(process, ["key", "s"])
        self.until(lambda: (self.folder / name).exists(), process)
        return pixels(self.folder / name)

    def closed_at(self, said):
        found = re.fullmatch(r"closed at t = (\S+), step (\d+); \d+ pictures? in \S+ s\n", said)
        self.assertTrue(found, said)
        return float(found.group(1)), int(found.group(2))

    def test_the_window_is_the_picture_that_render_draws(self):
        for options in [["two.toml"], ["two.toml", "--color-by", "speed", "--light"], ["spheres3d_frictionless"]]:
            process = self.open(*options, "--paused", "--no-panels")
            stem = pathlib.Path(options[0]).stem
            stored = self.picture(f"{stem}-1.png", process)
            self.until(lambda: self.screen.pixels().max() > 0, process)
            shown = self.screen.pixels()
            self.close(process)
            self.succeed("render", *options, "--time", "0", "-o", "render.png", "--size", f"{WIDTH}x{HEIGHT}", "--force")
            drawn = pixels(self.folder / "render.png")
            self.assertLessEqual(abs(stored - drawn).max(), 1, options)
            self.assertLessEqual(abs(shown - drawn).max(), 1, options)
            (self.folder / f"{stem}-1.png").unlink()

    def test_a_picture_and_a_movie_have_neither_panels_nor_their_room_nor_rings(self):
        self.succeed("run", "two.toml", "--quiet", "-o", "two.h5")
        for options in [["two.h5"], ["spheres3d_frictionless", "--camera", "perspective"]]:
            process = self.open(*options, "--paused")
            seen = lambda: abs(self.screen.pixels()[60:] - numpy.array(PINK)).max(axis=2).min() <= 2  # below the legend
            if options == ["two.h5"]:
                self.until(seen, process)
            shown = self.screen.pixels()[60:]
            if options == ["two.h5"]:
                y, x = numpy.argwhere(abs(shown - numpy.array(PINK)).max(axis=2) <= 2).max(axis=0) + [56, -8]
                ringed = self.act(process, ["mousemove", x, y], ["mousedown", 1], ["mouseup", 1])
                self.assertLess(abs(ringed - numpy.array([255, 217, 77])).max(axis=2).min(), 30)  # ring
            name = pathlib.Path(options[0]).stem
            stored = self.picture(f"{name}-1.png", process)
            if options == ["two.h5"]:
                self.screen.do("key", "r", "sleep", 0.5, "key", "r")
                self.until(lambda: (self.folder / "two-1.mp4").exists(), process)
            self.close(process)
            self.succeed("render", *options, "--time", "0", "-o", "render.png", "--size", f"{WIDTH}x{HEIGHT}", "--force")
            drawn = pixels(self.folder / "render.png")
            self.assertEqual(abs(stored - drawn).max(), 0, options)
            if options == ["two.h5"]:
                movie = subprocess.run(["ffmpeg", "-v", "error", "-i", self.folder / "two-1.mp4", "-frames:v", "1", "-f",
                                        "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True).stdout
                movie = numpy.frombuffer(movie, numpy.uint8).reshape(-1, HEIGHT, WIDTH, 3).astype(int)
                self.assertLess(abs(movie[0] - drawn).mean(), 2.0)
            (self.folder / f"{name}-1.png").unlink()

    def test_what_is_seen_can_be_had_again_as_a_file(self):
        for options in [["two.toml", "--color-by", "height"], ["spheres3d_frictionless", "--light", "--camera", "perspective"],
                        ["two.toml", "--color-by", 'how "far": x + 2 * radius', "--select", "x < 5 or vx == 7"],
                        ["spheres3d_frictionless", "--clip", "0:0:1:0.001", "--clip", "1:0:0:0.01", "--look", "own.toml"]]:
            name = pathlib.Path(options[0]).stem
            self.write("own.toml", '[look]\nbackground = "#204060"\ncolormap = "grey"\n')
            process = self.open(*options, "--paused", "--no-panels")
            self.act(process, ["mousemove", 200, 300], ["click", 4], ["click", 4])
            if name != "two":
                self.drag(process, 300, 200, 50, 30)
                self.act(process, ["mouseup", 1])
            self.act(process, ["key", "k"])
            stored = self.picture(f"{name}-1.png", process)
            self.until(lambda: (self.folder / f"{name}-1.look.toml").exists(), process)
            copied = shlex.split(self.screen.clipboard())
            self.close(process)
            self.assertEqual((copied[:3], copied[-2:]), (["carom", "render", options[0]], ["-o", f"{name}.png"]))
            self.succeed(*copied[1:], "--force")
            self.assertLessEqual(abs(pixels(self.folder / f"{name}.png") - stored).max(), 2, copied)
            again = ["render", options[0], "--look", f"{name}-1.look.toml", "--time", "0", "--size", f"{WIDTH}x{HEIGHT}"]
            self.succeed(*again, "-o", "again.png", "--force")
            self.assertLessEqual(abs(pixels(self.folder / "again.png") - stored).max(), 2, options)
            self.succeed("render", options[0], "--time", "0", "--size", f"{WIDTH}x{HEIGHT}", "-o", "fitted.png", "--force")
            self.assertGreater(abs(pixels(self.folder / "fitted.png") - stored).max(), 40, options)
            for path in self.folder.glob(f"{name}-1.*"):
                path.unlink()

    def test_space_plays_and_pauses_and_escape_closes(self):
        process = self.open("two.toml", "--paused")
        first = self.picture("two-1.png", process)
        begin = columns_of(self.screen.pixels(), PINK)[0][0]  # beside panels, which the picture is without
        self.play(process, lambda: columns_of(self.screen.pixels(), PINK)[0][0] > begin + 5)
        second = self.picture("two-2.png", process)
        time.sleep(0.3)  # in which time might go on
        third = self.picture("two-3.png", process)
        time_shown, step = self.closed_at(self.close(process))
        self.assertGreater(step, 0)
        self.assertGreater(time_shown, 0.05)
        self.assertGreater(columns_of(second, PINK)[0][0], columns_of(first, PINK)[0][0])
        self.assertEqual(abs(second - third).max(), 0)

    def test_steps_are_single_and_home_goes_back(self):
        process = self.open("two.toml", "--paused")
        self.act(process, *[["key", "Right"]] * 3)
        time_shown, step = self.closed_at(self.close(process))
        self.assertEqual(step, 3)
        process = self.open("two.toml", "--paused")
        self.act(process, ["key", "Right"], ["key", "Home"])
        self.assertEqual(self.closed_at(self.close(process)), (0.0, 0))

    def test_a_live_run_is_stored_with_what_is_done_to_it(self):
        process = self.open("two.toml", "--paused", "--no-panels", "-o", "played.h5")
        self.act(process, *[["key", "Right"]] * 2)
        shown = self.picture("two-1.png", process)
        left, right = columns_of(shown, PINK)[1]  # the ball at rest
        x = (left + right) // 2
        y = int(numpy.flatnonzero((abs(shown[:, x] - numpy.array(PINK)).max(axis=1) <= 2)).mean())
        self.drag(process, x, y, -60, 0)  # moves the picture, and no ball
        self.act(process, ["mouseup", 1])
        self.assertAlmostEqual(columns_of(self.picture("two-2.png", process), PINK)[1][0], left - 60, delta=1)
        self.screen.do("keydown", "ctrl")
        stroke = self.drag(process, x - 60, y, 0, -80)  # upwards
        self.act(process, ["mouseup", 1], ["keyup", "ctrl"])
        yellow = abs(stroke - numpy.array([255, 217, 77])).max(axis=2) <= 60
        self.assertGreater(yellow[y - 110 : y - 75, x - 50 : x + 20].sum(), 20)  # the speed beside the tip
        # Given up before the button was: no kick.
        self.screen.do("keydown", "ctrl")
        self.drag(process, x - 60, y, 0, 80)
        self.act(process, ["keyup", "ctrl"], ["key", "Escape"], ["mouseup", 1], ["key", "z"])
        self.close(process)
        with h5py.File(self.folder / "played.h5") as file:
            self.assertEqual(file["particles/all/position/time"][:].tolist(), [0.0])
            changes = file["parameters/changes"]
            self.assertEqual(changes["step"][:].tolist(), [2, 2])
            self.assertRegex(changes["what"][0].decode(), r"\Aball 1 kicked to \[.*, [0-9.]+\]\Z")
            self.assertEqual(changes["what"][1].decode(), "kick of ball 1 undone")
        again = self.carom("view", "two.toml", "-o", "played.h5", env=self.screen.environment)
        self.assertEqual((again.status, again.err.count("\n")), (2, 1), again.err)
        self.assertIn("played.h5", again.err)

    def test_a_ball_that_is_kicked_is_seen_to_fly(self):
        process = self.open("two.toml", "--paused", "--no-panels")
        def place(name):
            picture = self.picture(name, process)
            left, right = columns_of(picture, PINK)[1]  # the ball that was at rest
            column = abs(picture[:, (left + right) // 2] - numpy.array(PINK)).max(axis=1) <= 2
            return (left + right) // 2, int(numpy.flatnonzero(column).mean())
        x, y = place("two-1.png")
        self.screen.do("keydown", "ctrl")
        self.drag(process, x, y, 0, -60)
        self.act(process, ["mouseup", 1], ["keyup", "ctrl"])
        self.assertEqual(place("two-2.png"), (x, y))  # it has its speed, and stands until time goes on
        pink = lambda: abs(self.screen.pixels()[: y - 40, x - 5 : x + 5] - numpy.array(PINK)).max(axis=2).min() <= 2
        self.play(process, pink)
        later = place("two-3.png")
        self.close(process)
        self.assertAlmostEqual(later[0], x, delta=2)
        self.assertLess(later[1], y - 15)

    def test_a_typed_number_is_taken_at_enter_and_a_cold_wall_can_be_heated_again(self):
        hot = TWO.replace("[box]\n", "[box]\nwall_temperature = [[2.0, 1.0], 0.0]\n")
        self.write("hot.toml", hot.replace("[run]\n", "[run]\nsolver = \"events\"\n"))
        process = self.open("hot.toml", "--paused", "-o", "hot.h5")
        click = lambda x, y: self.act(process, ["mousemove", x, y], ["mousedown", 1], ["mouseup", 1])
        click(60, 292)  # "Look" closes
        click(60, 315)  # "Physics" opens
        for number in ("15", "0", "20"):
            click(210, 397)
            # As fast as can be: the key is up again before the next picture.
            self.act(process, ["type", "--delay", 0, number], ["key", "--delay", 0, "Return"])
        self.close(process)
        with h5py.File(self.folder / "hot.h5") as file:
            said = [what.decode() for what in file["parameters/changes/what"][:]]
        self.assertEqual(said, [f"box.wall_temperature[0][0]={number}" for number in (15, 0, 20)])

    def test_colours_begin_anew_at_the_start(self):
        self.write("fall.toml", TWO.replace("[box]", "[physics]\ngravity = [0, -9.81]\n[box]"))
        process = self.open("fall.toml", "--paused", "--no-panels", "--color-by", "speed")
        first = self.picture("fall-1.png", process)
        # The pointer is in the middle of the screen.
        self.play(process, lambda: abs(self.screen.pixels() - first)[:, :200].max() > 40)
        self.act(process, ["key", "Home"])
        again = self.picture("fall-2.png", process)
        self.close(process)
        self.assertEqual(abs(first - again).max(), 0)

    def test_the_wheel_zooms_about_the_pointer(self):
        process = self.open("two.toml", "--paused", "--no-panels")
        first = self.picture("two-1.png", process)
        left, right = columns_of(first, PINK)[0]
        x = (left + right) // 2
        y = int(numpy.flatnonzero((abs(first[:, x] - numpy.array(PINK)).max(axis=1) <= 2)).mean())
        self.act(process, ["mousemove", x, y], ["click", 4], ["click", 4])
        second = self.picture("two-2.png", process)
        self.close(process)
        larger = columns_of(second, PINK)[0]
        self.assertAlmostEqual((larger[0] + larger[1]) / 2, x, delta=1.5)
        self.assertAlmostEqual((larger[1] - larger[0]) / (right - left), 1.15**2, delta=0.12)

    def same_as_render(self, picture, *arguments):
        self.succeed("render", *arguments, "-o", "render.png", "--size", f"{WIDTH}x{HEIGHT}", "--force")
        self.assertLessEqual(abs(picture - pixels(self.folder / "render.png")).max(), 1, arguments)

    def test_each_key_of_the_look_does_what_the_help_says(self):
        process = self.open("two.toml", "--paused", "--no-panels")
        count = 0

        def after(*keys):
            nonlocal count
            count += 1
            self.act(process, *[["key", key] for key in keys])
            return self.picture(f"two-{count}.png", process)

        first = after()
        for keys, options in ((["v"], ["--arrows"]), (["v", "l", "f"], ["--bare"]), (["l", "f", "c"], ["--color-by", "speed"]),
                              (["c"], ["--color-by", "kinetic-energy"]), (["equal"], ["--color-by", "kinetic-energy"])):
            picture = after(*keys)
            self.assertGreater(abs(picture - first).max(), 40, keys)
            self.same_as_render(picture, "two.toml", "--time", "0", *options)
        fitted = after()
        self.drag(process, 300, 150, 40, 30, button=3)  # the right one moves, and picks nothing
        self.act(process, ["mouseup", 3], ["click", 5])
        moved = after()
        self.assertGreater(abs(moved - fitted).max(), 40)
        self.assertEqual(abs(after("f") - fitted).max(), 0)
        self.close(process)
        process = self.open("spheres3d_frictionless", "--paused", "--no-panels")
        self.act(process, ["key", "p"], ["key", "f"])
        self.same_as_render(self.picture("spheres3d_frictionless-1.png", process), "spheres3d_frictionless", "--time", "0",
                            "--camera", "perspective")
        self.close(process)

    def test_a_cut_that_is_kept_stays_when_the_slider_goes_on(self):
        process = self.open("spheres3d_frictionless", "--paused")
        stem, count = "spheres3d_frictionless", 0

        def picture():
            nonlocal count
            count += 1
            return self.picture(f"{stem}-{count}.png", process)

        slide = lambda x: self.act(process, ["mousemove", x, 277], ["mousedown", 1], ["mouseup", 1])
        whole = picture()
        self.act(process, ["mousemove", 60, 150], *[["click", 5]] * 3)  # the panel's lower part
        slide(112)  # a half
        cut = picture()
        self.assertGreater((abs(cut - whole).max(axis=2) > 40).sum(), 100)
        self.act(process, ["key", "x"])
        self.assertEqual(abs(picture() - cut).max(), 0)
        slide(60)
        slide(17)
        self.assertEqual(abs(picture() - cut).max(), 0, "the slider is at its start, the cut where it was")
        self.act(process, ["mousemove", 122, 300], ["mousedown", 1], ["mouseup", 1])  # "Drop"
        self.assertEqual(abs(picture() - whole).max(), 0)
        self.close(process)

    def test_a_stored_run_begins_again_only_in_a_loop(self):
        self.succeed("run", "two.toml", "--quiet", "-o", "two.h5", "--until", "4")
        process = self.open("two.h5", "--paused", "--no-panels")
        at = lambda: columns_of(self.screen.pixels(), PINK)[0][0]
        begin = at()
        self.act(process, ["key", "End"])
        end = at()
        self.assertGreater(end, begin + 20)
        self.play(process, lambda: at() < end - 10)
        self.act(process, ["key", "o"], ["key", "End"])
        self.screen.do("key", "space")  # from the start, but once
        self.until(lambda: at() < end - 10, process)
        self.until(lambda: at() == end, process)
        self.settle(process)
        self.assertEqual(at(), end)
        self.assertAlmostEqual(self.closed_at(self.close(process))[0], 4.0, delta=0.01)

    def test_a_ball_is_picked_and_given_a_push(self):
        process = self.open("two.toml", "--paused", "--no-panels", "-o", "played.h5")
        shown = self.screen.pixels()
        left, right = columns_of(shown, PINK)[0]  # it flies at 1 to the right
        x = (left + right) // 2
        y = int(numpy.flatnonzero((abs(shown[:, x] - numpy.array(PINK)).max(axis=1) <= 2)).mean())
        self.screen.do("keydown", "ctrl", "keydown", "shift")
        self.drag(process, x, y, 0, -60)
        self.act(process, ["mouseup", 1], ["keyup", "shift"], ["keyup", "ctrl"])
        self.act(process, ["mousemove", x, y], ["mousedown", 1], ["mouseup", 1], ["key", "Tab"])
        self.assertGreater((abs(self.screen.pixels()[:, :300] - shown[:, :300]).max(axis=2) > 20).mean(), 0.2)
        self.close(process)
        with h5py.File(self.folder / "played.h5") as file:
            what = file["parameters/changes/what"][0].decode()
        velocity = [float(number) for number in re.findall(r"-?[0-9.]+(?:e-?[0-9]+)?", what.partition("[")[2])]
        self.assertRegex(what, r"\Aball 0 kicked by \[")
        self.assertAlmostEqual(velocity[0], 0.0, delta=0.05)
        self.assertGreater(velocity[1], 0.3)

    def test_a_ball_that_is_picked_is_followed_until_escape_lets_go_of_it(self):
        process = self.open("two.toml", "--paused", "--no-panels")
        balls = lambda name: [sum(run) / 2 for run in columns_of(self.picture(name, process)[80:], PINK)]
        click = lambda x, y: self.act(process, ["mousemove", x, y], ["mousedown", 1], ["mouseup", 1])
        shown = self.screen.pixels()
        x = sum(columns_of(shown[80:], PINK)[0]) // 2
        y = int(numpy.flatnonzero((abs(shown[80:, x] - numpy.array(PINK)).max(axis=1) <= 2)).mean()) + 80
        click(x, y)
        self.act(process, ["key", "Tab"], ["mousemove", 100, 380], ["click", 5])
        click(24, 382)  # "follow"
        ringed = self.act(process, ["key", "Tab"])
        first = balls("two-1.png")
        self.play(process, lambda: sum(columns_of(self.screen.pixels()[80:], PINK)[1]) / 2 < first[1] - 30)
        later = balls("two-2.png")
        self.assertAlmostEqual(later[0], first[0], delta=1)
        self.assertLess(later[1], first[1] - 20)
        ring = lambda picture: (abs(picture - numpy.array([255, 217, 77])).max(axis=2) < 30).sum()
        self.assertGreater(ring(ringed), 50)
        self.assertLess(ring(self.act(process, ["key", "Escape"])), 5)
        self.assertIsNone(process.poll())
        self.close(process)

    def test_a_file_of_other_balls_in_the_place_of_one_is_not_followed(self):
        self.succeed("run", "two.toml", "--quiet", "-o", "two.h5")
        process = self.open("two.h5", "--no-panels")
        shutil.copy(self.folder / "two.h5", self.folder / "other.h5")
        many = 30000  # of each
        with h5py.File(self.folder / "other.h5", "r+") as file:
            file["parameters/species/radius"][...] /= many  # so that all have room
            for place in ["parameters/species_of_ball", *(f"particles/all/{name}/value" for name, of in file["particles/all"].items()
                                                          if "value" in of and name != "box")]:
                numbers, attributes = file[place][()], dict(file[place].attrs)
                del file[place]
                file[place] = numpy.repeat(numbers, many, axis=0 if place.startswith("parameters") else 1)
                file[place].attrs.update(attributes)
        self.succeed("state", "other.h5")
        os.replace(self.folder / "other.h5", self.folder / "two.h5")
        time.sleep(2.0)  # it looks every half second
        self.close(process)

    def test_a_file_that_grows_is_followed(self):
        self.write("slow.toml", TWO.replace("until = 1.0", "until = 6.0").replace("size = [10.0, 5.0]", "size = [20.0, 5.0]"))
        run = self.start("run", "slow.toml", "--quiet", "-o", "slow.h5", "--set", "spring.dt=5e-8", "--set", "output.every=0.05")
        self.addCleanup(lambda: (run.kill(), run.communicate()))
        frames = lambda: self.carom("convert", "slow.h5", "seen.csv", "--frame", 1, "--force", "--quiet").status == 0
        self.until(lambda: (self.folder / "slow.h5").exists() and frames())
        process = self.open("slow.h5", "--paused", "--no-panels")
        self.act(process, ["key", "End"])
        at = lambda: columns_of(self.screen.pixels(), PINK)[0][0]
        seen = at()
        self.assertIsNone(run.poll(), "it is still being written")
        self.until(lambda: at() > seen + 5, process)  # nobody has touched the window
        self.close(process)

    def test_the_windows_button_closes_it(self):
        process = self.open("two.toml", "--paused")
        library, display = self.screen.x11()
        window = int(subprocess.run(["xdotool", "search", "--name", "carom: two"], env=self.screen.environment,
                                    capture_output=True, text=True, check=True).stdout.split()[0])
        # XClientMessageEvent: what a window manager sends.
        protocols = library.XInternAtom(display, b"WM_PROTOCOLS", 0)
        message = library.XInternAtom(display, b"WM_DELETE_WINDOW", 0)
        event = struct.pack("@iLi4xPLLi4x5L", 33, 0, 0, 0, window, protocols, 32, message, 0, 0, 0, 0)
        library.XSendEvent(display, ctypes.c_ulong(window), 0, ctypes.c_long(0), ctypes.create_string_buffer(event, 192))
        library.XSync(display, 0)
        library.XCloseDisplay(display)
        self.assertEqual(process.wait(timeout=30), 0)
        self.closed_at(process.communicate()[1])
        self.until(lambda: self.screen.pixels().max() == 0)

    def test_panels_and_help_come_and_go(self):
        process = self.open("two.toml", "--paused", "--no-panels")
        bare = self.screen.pixels()
        panels = self.act(process, ["key", "Tab"])
        helped = self.act(process, ["key", "F1"])
        again = self.act(process, ["key", "question"], ["key", "Tab"])
        self.close(process)
        self.assertGreater((abs(bare - panels).max(axis=2) > 20).mean(), 0.1)
        self.assertGreater((abs(panels - helped).max(axis=2) > 20).mean(), 0.1)
        self.assertEqual(abs(bare - again).max(), 0)

    def test_keys_are_characters_wherever_the_keyboard_has_them(self):
        process = self.open("two.toml", "--paused")
        # On a German keyboard + is where English ones have ], - is where / is, and ? is where - is, with shift.
        keyboard = lambda layout: subprocess.run(["setxkbmap", layout], env=self.screen.environment, check=True)
        # The server would keep it for all later tests: there xdotool lends each Latin letter a key, and takes it back at
        # once, before a slow window has looked up what it was.
        self.addCleanup(keyboard, "us")
        keyboard("de")
        still = lambda *keys: self.act(process, *[["key", key] for key in keys])
        first = still()
        faster = still("plus")
        again = still("minus")
        helped = still("question")
        self.assertGreater((abs(first - faster).max(axis=2) > 20).sum(), 30)  # the number beside the slider
        self.assertEqual(abs(first - again).max(), 0)
        self.assertGreater((abs(first - helped).max(axis=2) > 20).mean(), 0.1)
        # Escape ends one thing at a time, and asks before a run that has gone on is lost.
        closed = still("Escape", "Right")
        self.assertLess((abs(first - closed).max(axis=2) > 20).mean(), 0.05)
        asked = still("Escape")
        self.assertGreater((abs(asked - closed).max(axis=2) > 20).mean(), 0.02)
        self.assertIsNone(process.poll())
        stays = still("v", "v")
        self.assertEqual(abs(stays - closed).max(), 0)
        # A keyboard without Latin letters: the place stands for the letter.
        keyboard("ru")
        bare = still("Cyrillic_de")  # L: no title and scale
        self.assertGreater((abs(stays - bare).max(axis=2) > 20).sum(), 100)
        self.close(process)

    def test_a_stored_run_shows_the_frames_of_the_file(self):
        self.succeed("run", "two.toml", "--quiet", "-o", "two.h5")
        process = self.open("two.h5", "--paused", "--no-panels")
        self.act(process, ["key", "Right"], ["key", "Right"])
        second = self.picture("two-1.png", process)
        self.act(process, ["key", "Left"])
        first = self.picture("two-2.png", process)
        self.act(process, ["key", "End"])
        last = self.picture("two-3.png", process)
        time_shown, _ = self.closed_at(self.close(process))
        self.assertAlmostEqual(time_shown, 1.0, delta=0.01)
        for picture, frame in [(first, 1), (second, 2), (last, 4)]:
            self.succeed("render", "two.h5", "-o", "r.png", "--frame", frame, "--size", f"{WIDTH}x{HEIGHT}", "--force")
            self.assertLessEqual(abs(pixels(self.folder / "r.png") - picture).max(), 1)

    def test_a_stored_run_has_the_energies_of_all_its_rows(self):
        self.write("fall.toml", TWO.replace("[box]", "[physics]\ngravity = [0, -9.81]\n[box]"))
        self.succeed("run", "fall.toml", "--quiet", "-o", "fall.h5")
        process = self.open("fall.h5", "--paused")
        self.act(process, ["mousemove", 60, 252], ["mousedown", 1], ["mouseup", 1])  # "Look" closes
        columns = []
        for steps in ([], [["key", "Right"]], [["key", "End"]]):
            chart = self.act(process, *steps)[364:420, 33:290]
            total = ((chart[:, :, 0] > 150) & (chart[:, :, 0] > 1.6 * chart[:, :, 1])).any(axis=0)  # red
            cursor = (chart.min(axis=2) > 180).sum(axis=0)
            columns.append((int(total.sum()), int(cursor.argmax()), int(cursor.max())))
        self.close(process)
        for width, _, height in columns:  # the curve is whole before any frame but the first was seen
            self.assertGreater(width, 220)
            self.assertGreater(height, 40)
        self.assertLess(columns[0][1] + 40, columns[1][1])
        self.assertLess(columns[1][1] + 100, columns[2][1])

    def test_time_goes_back_in_a_live_run(self):
        process = self.open("two.toml", "--paused", "--no-panels")
        first = self.picture("two-1.png", process)
        begin = columns_of(first, PINK)[0][0]
        self.play(process, lambda: columns_of(self.screen.pixels(), PINK)[0][0] > begin + 30)
        self.act(process, ["key", "Right"], ["key", "Right"], ["key", "Left"])
        before = self.picture("two-2.png", process)
        for _ in range(100):
            if (self.act(process, ["key", "Left"]) == first).all():
                break
        again = self.picture("two-3.png", process)
        time_shown, step = self.closed_at(self.close(process))
        self.assertEqual((time_shown, step), (0.0, 0))
        self.assertEqual(abs(first - again).max(), 0)
        self.assertGreater(columns_of(before, PINK)[0][0], columns_of(first, PINK)[0][0] + 10)

    def test_the_help_is_searched(self):
        process = self.open("two.toml", "--paused", "--no-panels")
        lines = lambda shown: int((abs(shown - bare).max(axis=2) > 20).any(axis=1).sum())
        bare = self.screen.pixels()
        whole = lines(self.act(process, ["key", "F1"]))
        found = lines(self.act(process, ["key", "slash"], *[["key", letter] for letter in "ZOOM"]))
        self.assertLess(found, 0.4 * whole)
        # What is typed does nothing else; escape leaves the field, then closes the help.
        self.assertEqual(abs(self.act(process, ["key", "Escape"], ["key", "Escape"]) - bare).max(), 0)
        self.close(process)

    def test_a_movie_is_recorded(self):
        process = self.open("two.toml", "--no-panels")
        self.record(process, "two-1.mp4")
        self.close(process)
        probe = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries",
                                "stream=nb_read_frames,width,height", "-of", "csv=p=0", self.folder / "two-1.mp4"],
                               capture_output=True, text=True, check=True)
        width, height, frames = map(int, probe.stdout.strip().split(","))
        self.assertEqual((width, height), (WIDTH, HEIGHT))
        self.assertGreater(frames, 10)

    def test_a_movie_that_ends_at_once_has_a_picture(self):
        process = self.open("two.toml", "--no-panels")
        self.screen.do("key", "--delay", "0", "r", "r")
        self.until(lambda: (self.folder / "two-1.mp4").exists(), process)
        self.close(process)
        shape = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of",
                                "csv=p=0", self.folder / "two-1.mp4"], capture_output=True, text=True, check=True)
        self.assertGreaterEqual(int(shape.stdout.strip()), 1)

    def test_a_movie_may_be_of_another_kind(self):
        for kind, codec in (("webm", "vp9"), ("gif", "gif")):
            process = self.open("two.toml", "--no-panels", "--movie", kind)
            self.record(process, f"two-1.{kind}")
            self.close(process)
            probe = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries",
                                    "stream=codec_name,nb_read_frames", "-of", "csv=p=0", self.folder / f"two-1.{kind}"],
                                   capture_output=True, text=True, check=True)
            name, frames = probe.stdout.strip().split(",")
            self.assertEqual(name, codec)
            self.assertGreater(int(frames), 5)

    def test_a_slow_encoder_costs_time_of_the_movie_not_more_pictures(self):
        fake = self.folder / "ffmpeg"
        fake.write_text('#!/bin/sh\nsleep 2\nwc -c >counted\nfor last; do :; done\necho movie >"${last#file:}"\n')
        fake.chmod(0o755)
        usual = self.screen.environment
        self.addCleanup(setattr, self.screen, "environment", usual)
        self.screen.environment = dict(usual, PATH=f"{self.folder}:{usual['PATH']}")
        process = self.open("two.toml", "--no-panels")
        begin = time.time()
        self.screen.do("key", "r", "sleep", 3.5, "key", "r")
        self.until(lambda: (self.folder / "two-1.mp4").exists(), process)
        seconds = time.time() - begin
        self.close(process)
        pictures = int((self.folder / "counted").read_text()) / (3 * WIDTH * HEIGHT)
        self.assertEqual(pictures, int(pictures))
        self.assertGreater(pictures, 3)
        # 30 a second but for the two in which nothing was taken; 3 that were due, and one begun.
        self.assertLess(pictures, 30 * (seconds - 2) + 4 + 1)

    def test_a_scene_of_no_balls_opens(self):
        self.write("empty.toml", "[scene]\ndimension = 3\n[box]\nsize = [1, 1, 1]\n[run]\nbackend = \"cpu\"\n")
        process = self.open("empty.toml")
        self.screen.do("key", "space", "key", "c", "key", "p", "key", "f", "key", "l")
        self.close(process)

    def test_another_size_is_filled(self):
        process = self.open("two.toml", "--paused", "--no-panels")
        window = subprocess.run(["xdotool", "search", "--name", "carom: two"], env=self.screen.environment,
                                capture_output=True, text=True, check=True).stdout.split()[0]
        self.act(process, ["windowsize", window, 400, 300])
        picture = self.picture("two-1.png", process)
        self.close(process)
        self.assertEqual(picture.shape, (300, 400, 3))
        self.assertEqual(len(columns_of(picture, PINK)), 3)  # two balls and the legend

    def dense(self, dpi):
        """Another server, whose display has so many dots to the inch."""
        other = Screen()
        self.addCleanup(other.close)
        library, display = other.x11()
        self.addCleanup(library.XCloseDisplay, display)
        said = f"Xft.dpi:\t{dpi}\n".encode()
        atom = lambda name: ctypes.c_ulong(library.XInternAtom(display, name, 0))
        library.XChangeProperty(display, ctypes.c_ulong(library.XDefaultRootWindow(display)), atom(b"RESOURCE_MANAGER"),
                                atom(b"STRING"), 8, 0, said, len(said))
        library.XSync(display, 0)
        usual, self.screen = self.screen, other
        self.addCleanup(setattr, self, "screen", usual)
        return other

    def test_panels_go_with_the_size_and_letters_are_sharp_on_a_dense_display(self):
        other = self.dense(192)
        process = self.open("two.toml", "--paused")
        bar = other.pixels()[435:470, 20:620].max(axis=2)
        half = (bar > 80) & (bar <= 200)
        letters, wide = (bar > 200).sum(), (half[:, 1:] & half[:, :-1]).sum()
        self.assertGreater(letters, 1500, "twice as large as usual")
        self.assertLess(wide, 0.25 * letters, "rims of outlines are a pixel wide; those of enlarged letters are wider")
        window = subprocess.run(["xdotool", "search", "--name", "carom: two"], env=other.environment, capture_output=True,
                                text=True, check=True).stdout.split()[0]
        self.act(process, ["windowsize", window, 600, 400])
        column = other.pixels()[:400, 60]
        self.assertEqual(abs(column[318] - other.pixels()[318, 3]).max(), 0, "nothing between panel and status bar")
        other.do("key", "Escape")
        self.assertEqual(process.wait(timeout=30), 0)

    def test_large_letters_in_a_small_window_leave_half_of_it_to_the_balls(self):
        other = self.dense(288)
        process = self.open("two.toml", "--paused")
        balls = columns_of(other.pixels()[100:], PINK)
        self.assertEqual(len(balls), 2)
        self.assertGreater(balls[0][0], WIDTH // 2)

    def test_what_does_not_fit_beside_a_slider_of_large_letters_stands_below_it(self):
        other = self.dense(192)
        process = self.open("gas3d", "--set", "spring.dt=1e-5")  # much slower than asked for, which is then said
        panel = lambda: other.pixels()[95:360, :320]
        near = lambda color: abs(panel() - numpy.array(color)).max(axis=2) <= 10

        def widest_slider():
            grab = near([61, 133, 224]).any(axis=1)
            rows = numpy.split(numpy.arange(len(grab)), numpy.flatnonzero(numpy.diff(grab.astype(int))) + 1)
            middles = [int(run.mean()) for run in rows if grab[run[0]] and len(run) > 10]
            longest = 0
            for middle in middles:  # of one colour, on either side of the grab
                row = panel()[middle].sum(axis=1)
                longest = max(longest, *(len(run) for run in numpy.split(row, numpy.flatnonzero(numpy.diff(row)) + 1)))
            return longest

        orange = [255, 191, 77]
        self.until(lambda: near(orange).any(), process)
        self.assertGreater(widest_slider(), 90)
        self.assertLess(panel()[:, 293:304].max(), 90, "words are cut off at the panel's rim")
        other.do("mousemove", 100, 300, "click", 5)
        self.until(lambda: near([102, 102, 102]).sum() > 200, process)  # "3 states, 11.6 MB"
        self.assertGreater(widest_slider(), 90)
        self.assertLess(panel()[:, 293:304].max(), 90, "words are cut off at the panel's rim")
        process.kill()

    def test_a_range_that_was_given_is_seen_to_be_fixed(self):
        for options, fixed in (([], False), (["--range", "0:3"], True)):
            process = self.open("two.toml", "--paused", "--color-by", "speed", *options)
            tick = abs(self.screen.pixels()[364:385, 15:35] - numpy.array([66, 150, 250])).max(axis=2) < 12
            self.assertEqual(tick.sum() > 10, fixed, options)
            self.close(process)

    def test_a_signal_ends_it(self):
        process = self.open("two.toml")
        process.terminate()
        self.assertEqual(process.wait(timeout=30), 143)
        self.until(lambda: self.screen.pixels().max() == 0)

    def test_a_display_that_goes_away_is_said_in_one_line_and_what_was_stored_is_whole(self):
        other = Screen()
        self.addCleanup(other.close)
        process = self.start("view", "two.toml", "-o", "two.h5", env=other.environment)
        self.until(lambda: other.pixels().max() > 0, process)
        other.server.kill()
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out, err), (4, "", "carom: the window is gone: the display was lost\n"))
        self.succeed("render", "two.h5", "-o", "two.png")

    def test_no_display_is_said_in_one_line(self):
        environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
        for display, named in (({}, "DISPLAY"), ({"DISPLAY": ":4711"}, ":4711")):
            result = self.carom("view", "two.toml", env=environment | display)
            self.assertEqual(result.status, 4)
            self.assertRegex(result.err, rf"\Acarom: no window can be opened: there is no display; .*{named}.*; .*\n\Z")

    def test_an_older_opengl_is_named(self):
        result = self.carom("view", "two.toml", env=dict(self.screen.environment, MESA_GL_VERSION_OVERRIDE="4.1"))
        self.assertEqual(result.status, 4)
        self.assertRegex(result.err, r"\Acarom: a window needs OpenGL 4\.5, and 4\.1.* was found; .*\n\Z")

    def test_what_is_wrong_is_said_before_a_window_opens(self):
        self.succeed("run", "two.toml", "-o", "placeless.h5", "--set", 'output.fields=["velocity"]', "--quiet")
        for arguments, status in [([], 2), (["nothing.h5"], 4), (["two.toml", "--color-by", "mood"], 2),
                                  (["two.toml", "--set", "box.size=1"], 2), (["nothing"], 4),
                                  (["two.toml", "-o", "a.mp4"], 2), (["placeless.h5"], 2)]:
            result = self.carom("view", *arguments, env=self.screen.environment)
            self.assertEqual((result.status, result.err.count("\n")), (status, 1), result.err)


if __name__ == "__main__":
    unittest.main()
