"""A run that gets too little memory ends with status 4 and one line, or not at all short; it never crashes or hangs.

With CAROM_WHOLE_SWEEP=1 in the environment every limit is tried, and many balls too, which takes a quarter of an hour.
"""

import collections
import os
import resource
import signal
import struct
import unittest

import h5py

from program import GAS, PROGRAM, ProgramTest

MB = 1 << 20
WHOLE = os.environ.get("CAROM_WHOLE_SWEEP") == "1"
IMAGE_WITHOUT_GPU_CODE = 11 * MB  # to which the limits below belong
LATER = "0.15"  # than any run here ends
NOT_LOADED = 127  # by the system's loader, which has no room for the program's libraries: main() has not begun


def image_bytes():
    """What the program's own segments take when they are mapped, and 1 MB for the loader and the first stack. Where not
    even they fit, the system ends the process by SIGSEGV before its first instruction."""
    with open(PROGRAM, "rb") as file:
        header = struct.unpack("<16sHHIQQQIHHHHHH", file.read(64))
        file.seek(header[5])
        segments = [struct.unpack("<IIQQQQQQ", file.read(56)) for _ in range(header[10])]
    return max(address + size for kind, _, _, address, _, _, size, _ in segments if kind == 1) + MB


class LittleMemory(ProgramTest):
    def setUp(self):
        super().setUp()
        self.statuses = collections.Counter()
        self.image = image_bytes()

    def run_within(self, kilobytes, solver, scene):
        """One run, and a look at what it leaves. Returns its status."""
        for name in ("gas.h5", "gas.checkpoint.h5"):
            (self.folder / name).unlink(missing_ok=True)
        limit = kilobytes << 10
        result = self.carom("run", scene, "-o", "gas.h5", "--quiet", "--json", "--threads", "2", "--solver", solver,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.statuses[result.status] += 1
        where = f"{solver}, {kilobytes} kB: {result.err}"
        if result.status == NOT_LOADED or (result.status == -signal.SIGSEGV and limit <= self.image):
            if result.status == NOT_LOADED:
                self.assertIn("error while loading shared libraries", result.err, where)
            self.assertEqual(self.files(), sorted(["dense.toml", "gas.toml"]), where)
            return result.status
        self.assertIn(result.status, (0, 4), where)
        if result.status == 4:
            self.assertRegex(result.err, r"\Acarom: [^\n]+\n\Z", where)
        self.assertFalse([name for name in self.files() if "partial" in name], where)
        if (self.folder / "gas.h5").exists():
            with h5py.File(self.folder / "gas.h5") as file:
                self.assertIn("particles", file, where)
        if result.status == 4 and (self.folder / "gas.checkpoint.h5").exists():
            rest = self.run_json("--resume", "gas.checkpoint.h5", "-o", "rest.h5", "--until", LATER)
            self.assertEqual(rest["state_hash"], self.hashes[scene, solver], where)
            (self.folder / "rest.h5").unlink()
            (self.folder / "rest.checkpoint.h5").unlink()
        return result.status

    def test_any_limit_ends_in_order(self):
        self.write("gas.toml", GAS.replace("count = 200", "count = 40").replace("until = 0.5", "until = 0.1"))
        self.write("dense.toml", GAS.replace("count = 200", "count = 100000").replace("[24.0, 24.0]", "[600.0, 600.0]")
                   .replace("until = 0.5", "until = 0.01"))
        solvers = ("spring", "events")
        sweeps = [("gas.toml", list(range(300, 70, -40)) + list(range(64, 19, -1)), 1024),
                  ("dense.toml", (200, 56, 54, 52, 50, 48), 1024)]
        if WHOLE:
            sweeps = [("gas.toml", range(300, 19, -1), 1024), ("gas.toml", range(70 * 8, 36 * 8, -1), 128),
                      ("dense.toml", range(320, 40, -4), 1024)]
        # Code for GPUs makes the program's image larger, which takes room and is never looked at here.
        more = max(0, self.image - IMAGE_WITHOUT_GPU_CODE) >> 10
        self.hashes = {}
        for scene in sorted({scene for scene, _, _ in sweeps}):
            for solver in solvers:
                self.hashes[scene, solver] = self.run_json(scene, "-o", "gas.h5", "--force", "--solver", solver,
                                                           "--until", LATER)["state_hash"]
        for scene, limits, kilobytes in sweeps:
            for k, limit in enumerate(limits):
                for solver in solvers if WHOLE else solvers[k % 2:k % 2 + 1]:
                    self.run_within(limit * kilobytes + more, solver, scene)
        self.assertGreater(self.statuses[4], 5)  # else nothing was tried
        self.assertGreater(self.statuses[0], 5)
        if WHOLE:
            print(dict(self.statuses), flush=True)


class LittleMemoryForReaders(ProgramTest):
    def test_any_limit_ends_in_order(self):
        self.write("gas.toml", GAS + '[[observe]]\nname = "speed"\nkind = "speed"\n')
        self.succeed("run", "gas.toml", "--quiet", "--until", "0.2")
        self.write("loads.toml", GAS[:GAS.index("[[fill]]")] + '[[load]]\nfile = "gas.h5"\n')
        commands = [["state", "gas.h5", "--json"], ["plot", "gas.h5", "energy", "--csv", "-o", "-"],
                    ["plot", "gas.h5", "speed", "--csv", "-o", "-"], ["convert", "gas.h5", "c.csv", "--force"],
                    ["run", "--resume", "gas.checkpoint.h5", "--until", "0.21", "-o", "r.h5", "--force", "--quiet"],
                    ["check", "loads.toml"]]
        more = max(0, image_bytes() - IMAGE_WITHOUT_GPU_CODE)
        whole = {}
        for command in commands:
            whole[tuple(command)] = self.succeed(*command).out
        statuses = collections.Counter()
        for k, quarters in enumerate(range(66 * 4, 16 * 4, -1 if WHOLE else -3)):
            limit = (quarters * MB) // 4 + more
            for command in commands if WHOLE else commands[k % 2::2]:
                result = self.carom(*command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
                where = f"{command}, {limit >> 10} kB: {result.err}"
                statuses[result.status] += 1
                if result.status == NOT_LOADED or (result.status == -signal.SIGSEGV and limit <= image_bytes()):
                    continue
                self.assertIn(result.status, (0, 4), where)
                if result.status == 4:
                    self.assertRegex(result.err, r"\Acarom: [^\n]+\n\Z", where)
                elif command[0] != "check":  # which says how fast this machine is
                    self.assertEqual(result.out, whole[tuple(command)], where)
        self.assertGreater(statuses[4], 5)
        self.assertGreater(statuses[0], 5)


class LittleMemoryForPictures(ProgramTest):
    def test_a_large_picture_takes_but_little_more_than_its_own_pixels(self):
        self.write("gas.toml", GAS)
        self.succeed("run", "gas.toml", "--quiet", "--until", "0.1")
        limit = 600 * MB + max(0, image_bytes() - IMAGE_WITHOUT_GPU_CODE)  # 16 million pixels, three floats each: 190 MB
        result = self.carom("plot", "gas.h5", "balls", "-o", "balls.png", "--size", "4000x4000",
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual((result.status, result.err), (0, "balls.png\n"))


if __name__ == "__main__":
    unittest.main()
