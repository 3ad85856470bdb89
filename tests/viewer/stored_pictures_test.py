"""Pictures beside stored ones: not to the pixel, for OpenGL's drivers differ, but a wrong colour or a missing shadow shows."""

import pathlib
import unittest

import numpy

from program import ProgramTest
from render_test import pixels

STORED = pathlib.Path(__file__).parent / "pictures"
SIZE = ["--size", "160x120"]
# Of squares of 8 x 8 pixels, in each channel, of 255. Drivers differ at edges, of which a square has a few pixels.
MOST = 14.0
MEAN = 1.0

PILE = """
[scene]
dimension = 3
[box]
size = [6.0, 6.0, 5.0]
[physics]
gravity = [0.0, 0.0, -9.81]
[run]
backend = "cpu"
""" + "".join(f"""
[[ball]]
radius = {radius}
mass = 1.0
position = [{x}, {y}, {z}]
color = "{color}"
""" for x, y, z, radius, color in [(1.5, 1.5, 1.0, 1.0, "#E91E63"), (3.6, 1.7, 1.0, 1.0, "#FDD835"), (2.5, 3.4, 1.0, 1.0, "#43A047"),
                                   (2.55, 2.2, 2.55, 1.0, "#FAFAFA"), (4.8, 4.6, 0.8, 0.8, "#1E88E5")])

# Each with what it must not look like.
PICTURES = {
    "table": (["billiards", "--time", "0"], [["--set", "look.floor=#1B5A46"], ["--color-by", "species"], ["--bare"]]),
    "pile": (["pile.toml", "--time", "0", "--color-by", "species"],
             [["--plain"], ["--camera", "azimuth=40"], ["--light"], ["--color-by", "height"]]),
    "gas": (["piston", "--time", "0", "--arrows"], [["--color-by", "id"], ["--select", "x > 20"], ["--glow"]]),
    "glow": (["free_expansion", "--time", "0", "--glow"], [["--colormap", "ember"], ["--range", "0:6"], ["--copies", "1"]]),
    "cut": (["mixing", "--time", "0", "--clip", "0:-1:0:-4,0:0:1:9", "--camera", "perspective"],
            [["--clip", "0:-1:0:-4"], ["--clip", "0:0:1:9"], ["--color-by", "speed"]]),
}


def blocks(picture):
    height, width, _ = picture.shape
    return picture.reshape(height // 8, 8, width // 8, 8, 3).mean(axis=(1, 3))


class StoredPictures(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("pile.toml", PILE)

    def draw(self, *arguments):
        self.succeed("render", *arguments, *SIZE, "-o", "out.png", "--force", "--quiet")
        return blocks(pixels(self.folder / "out.png"))

    def test_pictures_are_as_they_were(self):
        for name, (arguments, others) in PICTURES.items():
            with self.subTest(name):
                stored = blocks(pixels(STORED / f"{name}.png"))
                again = f"carom render {' '.join(arguments + SIZE)} -o tests/viewer/pictures/{name}.png --force"
                difference = abs(self.draw(*arguments) - stored)
                self.assertLess(difference.max(), MOST, f"if it is to be so: {again}")
                self.assertLess(difference.mean(), MEAN, f"if it is to be so: {again}")
                for other in others:
                    # An option that is given twice would be refused.
                    at = arguments.index(other[0]) if other[0] in arguments else len(arguments)
                    kept = arguments[:at] + arguments[at + 2 :]
                    difference = abs(self.draw(*kept, *other) - stored)
                    self.assertTrue(difference.max() > 1.5 * MOST or difference.mean() > 1.5 * MEAN,
                                    f"{other}: {difference.max()}, {difference.mean()}")


if __name__ == "__main__":
    unittest.main()
