"""A build without the renderer says so in one line, and all else of it works."""

import unittest

from program import GAS, ProgramTest


class WithoutViewer(ProgramTest):
    def test_what_is_missing_is_said(self):
        self.write("gas.toml", GAS)
        for command in [["render", "gas.toml", "-o", "a.png"], ["view", "gas.toml"]]:
            result = self.carom(*command)
            self.assertEqual(result.status, 4)
            self.assertRegex(result.err, r"\Acarom: this build .*: (switched off|the loader generator glad|needs).*\n\Z")
        self.assertEqual(self.files(), ["gas.toml"])
        self.assertRegex(self.succeed("info").out, r"(?m)^  OpenGL +none in this build: ")


if __name__ == "__main__":
    unittest.main()
