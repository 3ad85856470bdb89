"""`carom bench`: what it measures and says, as a user calls it. Rates are not judged here, only what must hold of any."""

import json
import os
import resource
import signal
import time
import unittest

from program import ProgramTest

SMALL = ["bench", "--quick", "--sizes", "500", "--fractions", "0.3", "--dimension", "2", "--repeats", "2", "--quiet",
         "--backend", "cpu"]

# Command line -> the one line on standard error.
MALFORMED = [
    (["--only", "speed"], r"--only: 'speed' is not known; allowed: copy, integrate, textbook, spring, events, output"),
    (["--dimension", "4"], r"--dimension: '4' is not known; allowed: 2, 3"),
    (["--sizes", "many"], r"--sizes: 'many' is not a number"),
    (["--sizes", "1e10"], r"--sizes: '1e10' is not a whole number from 1 to 1e9"),
    (["--sizes", "10,,20"], r"--sizes: '10,,20' is not a list A,B,C"),
    (["--fractions", "1.5"], r"--fractions: '1\.5' is not above 0 and at most 0\.9"),
    (["--precision", "half"], r"--precision: 'half' is not known; allowed: single, double"),
    (["--backend", "gpu"], r"--backend: 'gpu' is not known; allowed: auto, cpu, cuda"),
    (["--threads", "0"], r"--threads: '0' is not a whole number from 1 up"),
    (["--repeats", "0"], r"--repeats: '0' is not a whole number from 1 up"),
    (["--limit", "-1"], r"--limit: '-1' is not a time above 0"),
    (["--patience", "long"], r"--patience: 'long' is not a number"),
    (["-o", "taken.json"], r"taken\.json: exists already; .*"),
    (["--diff", "taken.json", "taken.json"], r"taken\.json: is no result of carom bench"),
    (["--diff", "taken.json"], r".*--diff.*"),
    (["--diff", "taken.json", "taken.json", "--json"], r"--json: not with --diff"),
    (["--diff", "taken.json", "taken.json", "-o", "new.json"], r"--output: not with --diff"),
    (["--diff", "taken.json", "taken.json", "--only", "spring"], r"--only: not with --diff"),
    (["--diff", "taken.json", "taken.json", "--quick"], r"--quick: not with --diff"),
]


def results(rows=1, text="cpu", rate=1e6):
    """A file of results."""
    row = {"rung": "spring", "backend": text, "threads": 1, "dimension": 2, "packing_fraction": 0.1, "balls": 1000,
           "precision": "single", "per_second": rate, "per_second_least": rate, "per_second_most": rate, "spread": 0.1}
    return json.dumps({"carom_bench": 1, "machine": {"commit": text, "date": text, "processor": {"name": text}, "gpus": []},
                       "rows": [row | {"balls": 1000 + k} for k in range(rows)]})


class Results(ProgramTest):
    """Files of results, which may be anybody's."""

    def test_show_control_characters(self):
        bad = "a\x1b[2J\n\x07\x9b"
        self.write("a\x1b[2Jb.json", results(text=bad))
        said = self.succeed("bench", "--diff", "a\x1b[2Jb.json", "a\x1b[2Jb.json").out
        self.assertIn("A: a\\x1b[2Jb.json (a\\x1b[2J\\x0a\\x07\\x9b, ", said)
        self.assertIn("  spring    a\\x1b[2J\\x0a\\x07\\x9b", said)
        self.assertNotRegex(said, "[\x1b\x07\x9b]")

    def test_have_no_more_rows_than_a_bench(self):
        self.write("a.json", results(rows=10_001))
        for command in (["plot", "a.json", "-o", "a.svg"], ["bench", "--diff", "a.json", "a.json"]):
            result = self.carom(*command)
            self.assertEqual((result.status, result.err), (2, "carom: a.json: holds more rows than any bench has (10000)\n"))

    def test_have_rates_that_a_figure_can_show(self):
        for rate, status in ((1e308, 2), (1e299, 0)):
            self.write("a.json", results(rate=rate))
            result = self.carom("plot", "a.json", "-o", "a.svg", "--quiet")
            self.assertEqual(result.status, status, result.err)
            if status == 2:
                self.assertEqual(result.err, "carom: a.json: 'speed' has numbers beyond what a figure can show\n")
        self.write("a.json", results(rate=0.0))
        for command in (["plot", "a.json", "-o", "a.svg", "--force"], ["bench", "--diff", "a.json", "a.json"]):
            self.assertEqual(self.carom(*command).err, "carom: a.json: rows[0].per_second: must be above 0, not 0\n")

    def test_differ_by_the_same_whichever_comes_first(self):
        one, two = (json.loads(results(rows=2)) for _ in range(2))
        for row in (one["rows"][0], two["rows"][1]):
            row.update(per_second=1.25e6, per_second_least=1.25e6, per_second_most=1.25e6)
        self.write("a.json", json.dumps(one))
        self.write("b.json", json.dumps(two))
        for names in (["a.json", "b.json"], ["b.json", "a.json"]):
            self.assertIn("Median of the ratios: 1.000;", self.succeed("bench", "--diff", *names).out)

    def test_have_axes_of_numbers_that_have_all_their_digits(self):
        self.write("a.json", results())
        for option in ("--xrange=5e-324:1e-323", "--yrange=5e-324:1e-323", "--yrange=1e-310:", "--yrange=1:1e301"):
            result = self.carom("plot", "a.json", "speed", option, "-o", "a.svg")
            self.assertEqual(result.status, 2, option)
            self.assertRegex(result.err, r"\Acarom: --[xy]range: a logarithmic axis goes from 1e-300 to 1e300, not from \S+ to \S+\n\Z")


class Bench(ProgramTest):
    def test_the_ladder_is_measured_from_end_to_end(self):
        result = self.succeed(*SMALL, "--threads", "1,2", "-o", "a.json")
        self.assertEqual(result.err, "")
        with open(self.folder / "a.json") as file:
            results = json.load(file)
        self.assertEqual(results["left_out"], [])
        rungs = {(row["rung"], row.get("threads"), row.get("precision")) for row in results["rows"]}
        for threads in (1, 2):
            self.assertIn(("copy", threads, None), rungs)
            for rung in ("integrate", "textbook", "spring"):
                self.assertIn((rung, threads, "single"), rungs)
                self.assertIn((rung, threads, "double"), rungs)
        self.assertIn(("events", 1, "double"), rungs)
        self.assertIn(("output", 2, "single"), rungs)
        for row in results["rows"]:
            self.assertGreater(row["per_second"], 0)
            self.assertLessEqual(row["per_second_least"], row["per_second"])
            self.assertGreaterEqual(row["per_second_most"], row["per_second"])
            self.assertEqual(row["repeats"], 2)
            if row["rung"] in ("integrate", "textbook", "spring"):
                self.assertEqual(row["bytes_counted"], 64 if row["precision"] == "double" else 32)
                self.assertAlmostEqual(row["fraction_of_limit"],
                                       row["per_second"] * row["bytes_counted"] / row["copy_bytes_per_second"])
                self.assertEqual(row["start"], "melted")
            if row["rung"] == "spring":
                self.assertGreater(row["contacts_per_ball"], 0)
                self.assertLess(row["contacts_per_ball"], 1)
                self.assertGreater(row["steps_between_sorts"], 10)
            self.assertIn(row["rung"], result.out)
        output = next(row for row in results["rows"] if row["rung"] == "output")
        self.assertGreater(output["output_bytes"], 21 * 500 * 4 * 8)  # 21 frames of position and velocity
        for key in ("date", "commit", "processor", "build"):
            self.assertIn(key, results["machine"])
        self.assertRegex(result.out, r"To a given simulated time\n  2D, 500 balls: at packing fraction 0\.3 \w+ is there")
        # Nothing is left behind beside the file.
        self.assertEqual(self.files(), ["a.json"])

        diff = self.succeed("bench", "--diff", "a.json", "a.json").out
        self.assertIn(f"{len(results['rows'])} compared: 0 faster and 0 slower", diff)
        self.succeed("plot", "a.json", "speed", "-o", "speed.png")
        self.assertGreater((self.folder / "speed.png").stat().st_size, 1000)

    def test_results_that_do_not_fit_into_the_file_are_printed(self):
        limit = (100, 100)
        for options, says in (([], "1 measurement"), (["--json"], '"rung":"textbook"')):
            result = self.carom(*SMALL, "--only", "textbook", "--threads", "1", "--precision", "single", "-o", "a.json", *options,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
            self.assertEqual(result.status, 4)
            self.assertRegex(result.err, r"\Acarom: a\.json: cannot write: .*\n\Z")
            self.assertIn(says, result.out)
        self.assertEqual(self.files(), [])

    def test_json_goes_to_standard_output_alone(self):
        result = self.succeed(*SMALL, "--only", "textbook", "--json")
        results = json.loads(result.out)
        self.assertEqual({row["rung"] for row in results["rows"]}, {"textbook"})
        self.assertNotIn("fraction_of_limit", results["rows"][0], "without copy nothing is known of the limit")

    def test_many_repeats_do_not_pass_the_limits(self):
        few = [word for k, word in enumerate(SMALL) if "--repeats" not in SMALL[k - 1:k + 1]]
        for only in ("copy", "textbook", "events"):
            for limit in (["--limit", "1"], ["--patience", "1"]):
                result = self.succeed(*few, "--only", only, "--threads", "1", "--repeats", "30", *limit, "--json")
                results = json.loads(result.out)
                self.assertLess(results["seconds"], 5.0, (only, limit))
                self.assertEqual(results["rows"], [])
                for case in results["left_out"]:
                    self.assertRegex(case["why"], f"would take about [0-9.]+ s \\({limit[0]}\\)|the time for all is over")

    def test_what_does_not_fit_is_left_out_with_a_reason(self):
        dense = [word.replace("0.3", "0.3,0.89") for word in SMALL]
        result = self.succeed(*dense, "--only", "spring", "--threads", "1", "--precision", "single")
        self.assertRegex(result.out, r"Left out\n  spring, .*packing fraction 0\.89, 500 balls, single: .*\S")
        result = self.succeed(*SMALL, "--only", "spring", "--limit", "1e-9")
        self.assertRegex(result.out, r"the time for all is over \(--limit\)")
        self.assertIn("0 measurements", result.out)

    def test_an_interruption_keeps_what_was_measured(self):
        process = self.start("bench", "--only", "integrate", "--sizes", "1000", "--repeats", "1000", "--backend", "cpu",
                             "--fractions", "0.3", "--dimension", "2,3", "--quick", "-o", "a.json", "--precision",
                             "single", "--threads", "1", "--limit", "1000")
        while "integrate" not in (line := process.stderr.readline()):
            self.assertNotEqual(line, "", "it is over")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=290)
        self.assertEqual(process.returncode, 130)
        with open(self.folder / "a.json") as file:
            results = json.load(file)
        self.assertTrue(results["interrupted"])

    def test_an_interruption_of_the_last_case_is_told(self):
        for only, begins in (("output", "output, cpu"), ("copy", "copy, cpu")):
            process = self.start("bench", "--only", only, "--sizes", "2000", "--dimension", "2", "--fractions", "0.5",
                                 "--backend", "cpu", "--threads", "1", "--json", "--repeats", "20")
            while begins not in (line := process.stderr.readline()):
                self.assertNotEqual(line, "", "it is over")
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=290)
            self.assertEqual(process.returncode, 130, only)
            self.assertTrue(json.loads(out)["interrupted"], only)

    def test_a_second_signal_leaves_no_folder(self):
        folder = self.folder / "temporary"
        folder.mkdir()
        process = self.start("bench", "--only", "output", "--sizes", "20000", "--dimension", "2", "--fractions", "0.5",
                             "--backend", "cpu", "--threads", "1", "--quiet", "--repeats", "20", env=dict(os.environ, TMPDIR=str(folder)))
        begun = time.monotonic()
        while not list(folder.glob("*/gas.h5")):
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), begun + 100.0)
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=290)
        self.assertIn(process.returncode, (-signal.SIGINT, 130, -signal.SIGTERM, 143))
        self.assertEqual(list(folder.iterdir()), [])

    def test_malformed_ones_get_one_line_and_status_2(self):
        self.write("taken.json", "{}")
        for arguments, expected in MALFORMED:
            with self.subTest(" ".join(arguments)):
                result = self.carom("bench", *arguments)
                self.assertEqual(result.status, 2, result.err)
                self.assertRegex(result.err, rf"\Acarom: (?:{expected})\n\Z")
                self.assertEqual(result.out, "")
        self.assertEqual(self.files(), ["taken.json"])

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "this machine has a GPU")
    def test_asking_for_a_gpu_without_one_is_status_4(self):
        result = self.carom("bench", "--quick", "--backend", "cuda", "-o", "a.json")
        self.assertEqual(result.status, 4)
        self.assertRegex(result.err, r"\Acarom: no CUDA device.*\n\Z")
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
