"""Standard errors of small gases over 30 seeds each: bench/coverage.py, the smaller version.

True over claimed of a quantity scatters by 1 / sqrt(2 * 29) for the scatter of 30 values, 13 %, and by less for the mean of 30
claims: 4.5 standard deviations, with what coverage.json has of each as its middle (0.87 to 1.21), are the bounds below. About 90
quantities are judged, whose false alarms are thus below 1 in 1,000 for the whole test with new seeds; the seeds are fixed.
Errors by blocks that cannot go down, or stop growing too early, gave 0.17 for a momentum and 2.4 for the temperature of a half.
"""

import sys

from program import PROGRAM, SOURCE

sys.path.insert(0, str(SOURCE / "bench"))
import coverage

CASES = ["disks, periodic", "thin disks, walls", "spheres in a channel", "24 disks, warm walls and periodic",
         "200 disks in a long box, walls and periodic"]
SEEDS = 30
LEAST, MOST = 0.45, 1.75
# Of all quantities of a case, within one error and two: 68 and 95 %; many of them follow from each other.
WITHIN_1, WITHIN_2 = (0.60, 0.80), 0.90

results = coverage.coverage(PROGRAM, CASES, SEEDS, 1, 2)
failures = []
for case, quantities in results.items():
    if case == CASES[-1]:  # shorter than rows of angular momentum take: the errors of ways alone are looked at, below
        continue
    for name, found in quantities.items():
        if not LEAST < found["true_over_claimed"] < MOST:
            failures.append(f"{case}: {name}: {found}")
    shares = [sum(found[key] for found in quantities.values()) / len(quantities) for key in ("within_1", "within_2")]
    print(f"{case}: {shares[0]:.2f} within one error, {shares[1]:.2f} within two, of {len(quantities)} quantities")
    if not WITHIN_1[0] < shares[0] < WITHIN_1[1] or not shares[1] > WITHIN_2:
        failures.append(f"{case}: {shares}")
# Of ways that some axes bound and others do not: 1.5 and 2.4 with errors as if all axes were alike. In a long box, where flows
# carry many balls: 2.0 and 2.1 with what spans of a twelfth of the run tell of flows.
for case in CASES[2:]:
    for name in ("a_self_diffusion", "a_msd, long lags"):
        if not results[case][name]["true_over_claimed"] < 1.3:
            failures.append(f"{case}: {name}")
print("\n".join(failures))
sys.exit(1 if failures else 0)
