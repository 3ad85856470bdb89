"""The commands of README.md's tour do what they say, one after the other, in one folder."""

import re
import shlex
import unittest

from program import SOURCE, ProgramTest


def tour():
    """The commands, without what is said behind them."""
    text = (SOURCE / "README.md").read_text()
    section = text[text.index("## A tour"):text.index("## What is where")]
    return [line.split(" #")[0].strip() for line in section.splitlines() if line.startswith("    carom ")]


class Tour(ProgramTest):
    def test_every_command_works(self):
        (self.folder / "scenes").symlink_to(SOURCE / "scenes")
        commands = tour()
        self.assertGreater(len(commands), 5)
        without_opengl = "OpenGL      none in this build" in self.succeed("info").out
        for command in commands:
            if " run " in command:  # as they are, but short
                command = re.sub(r" --until \S+", "", command) + " --until 0.005"
            if " bench " in command:
                command += " --limit 5"
            if command.startswith("carom view "):  # tests/viewer opens windows, where there is a screen for them
                continue
            if command.startswith("carom render ") and without_opengl:
                continue
            with self.subTest(command):
                result = self.carom(*shlex.split(command)[1:])
                self.assertEqual(result.status, 0, result.err)


if __name__ == "__main__":
    unittest.main()
