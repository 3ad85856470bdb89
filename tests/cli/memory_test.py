"""A run that gets too little memory ends with status 4 and one line, or not at all short; it never crashes or hangs."""

import resource
import unittest

from program import GAS, ProgramTest

MB = 1 << 20


class LittleMemory(ProgramTest):
    def test_any_limit_ends_in_order(self):
        self.write("gas.toml", GAS.replace("count = 200", "count = 40").replace("until = 0.5", "until = 0.1"))
        run = ["run", "gas.toml", "-o", "gas.h5", "--force", "--quiet", "--threads", "2"]
        enough = 0
        for limit in range(300, 49, -2):
            result = self.carom(*run, "--solver", "spring" if limit % 4 == 0 else "events",
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit * MB, limit * MB)))
            if "error while loading shared libraries" in result.err:
                break  # the program itself has not begun
            self.assertIn(result.status, (0, 4), f"{limit} MB: {result.err}")
            if result.status == 0:
                enough = limit
            else:
                self.assertRegex(result.err, r"\Acarom: [^\n]+\n\Z", limit)
        self.assertLess(enough, 200)  # else nothing was tried


if __name__ == "__main__":
    unittest.main()
