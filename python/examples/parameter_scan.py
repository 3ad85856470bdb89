# %% [markdown]
# A parameter scan: what is left of the energy of a gas whose collisions are not elastic, over the restitution, each with four
# seeds, several runs at once.

# %%
import matplotlib.pyplot as plt
import numpy as np

import carom

RESTITUTIONS, SEEDS = [0.7, 0.8, 0.9, 0.95, 1.0], [1, 2, 3, 4]
scene = carom.Scene({
    "scene": {"dimension": 2},
    "box": {"size": [20.0, 20.0], "boundary": ["periodic", "periodic"]},
    "run": {"solver": "events", "until": 10.0},
    "fill": [{"count": 300, "radius": 0.25, "mass": 1.0, "temperature": 1.0}],
})
table = carom.sweep(scene, {"physics.restitution": RESTITUTIONS, "scene.seed": SEEDS}, ["kinetic_energy"])

# %%
energy = table["kinetic_energy"].reshape(len(RESTITUTIONS), len(SEEDS)) / 300.0
mean, error = energy.mean(axis=1), energy.std(axis=1, ddof=1) / np.sqrt(len(SEEDS))
for restitution, one in zip(RESTITUTIONS, mean):
    print(f"restitution {restitution}: {one:.3f} of 1")

# %%
plt.errorbar(RESTITUTIONS, mean, error, fmt="o-")
plt.xlabel("restitution")
plt.ylabel("energy left for each ball")
plt.savefig("parameter_scan.png")
