# %% [markdown]
# The barometric law: in a thin gas under gravity the density falls as exp(-m g z / T).

# %%
import matplotlib.pyplot as plt
import numpy as np

import carom

GRAVITY, TEMPERATURE, HEIGHT = 0.1, 1.0, 80.0
scene = carom.Scene({
    "scene": {"dimension": 2, "seed": 2},
    "box": {"size": [20.0, HEIGHT], "boundary": ["periodic", "wall"]},
    "physics": {"gravity": [0.0, -GRAVITY]},
    "run": {"solver": "events", "until": 400.0},
    "output": {"every": 2.0},
    "fill": [{"count": 300, "radius": 0.1, "mass": 1.0, "temperature": TEMPERATURE, "arrangement": "atmosphere"}],
})
run = carom.Run(scene, keep_frames=True)
run.advance()

# %%
heights = np.concatenate([frame.position[:, 1] for frame in run.frames])
density, edges = np.histogram(heights, bins=40, range=(0.0, HEIGHT), density=True)
middle = 0.5 * (edges[1:] + edges[:-1])
law = np.exp(-GRAVITY * middle / TEMPERATURE) * GRAVITY / TEMPERATURE
print(f"mean height {heights.mean():.3g}, of point particles {TEMPERATURE / GRAVITY:.3g}")

# %%
plt.semilogy(middle, density, "o")
plt.semilogy(middle, law)
plt.xlabel("height")
plt.ylabel("density")
plt.savefig("barometric_law.png")
