"""The compiler has kept what the event-driven solver asks of memory ahead of time.

g++ drops calls of functions that do nothing else, and then the solver gives the same answers at half the speed."""

import os
import platform
import subprocess
import unittest

LEAST = 40  # some thirty places, each in several versions of the engine


class PrefetchTest(unittest.TestCase):
    @unittest.skipUnless(platform.machine() in ("x86_64", "AMD64"), "knows the instructions of x86-64 only")
    def test_the_program_asks_for_memory_ahead(self):
        listing = subprocess.run(
            ["objdump", "--disassemble", "--no-show-raw-insn", "--no-addresses", os.environ["CAROM_PROGRAM"]],
            capture_output=True, text=True, check=True).stdout
        self.assertGreater(listing.count("\tprefetch"), LEAST)


if __name__ == "__main__":
    unittest.main()
