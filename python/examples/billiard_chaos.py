# %% [markdown]
# Billiard chaos: two runs whose balls differ by 1e-12 at the start. Each collision multiplies the difference, so it grows
# exponentially, until the runs have nothing to do with each other.

# %%
import matplotlib.pyplot as plt
import numpy as np

import carom

BALLS, EDGE = 6, 8.0
grid = np.stack(np.meshgrid(np.arange(BALLS), np.arange(BALLS)), -1).reshape(-1, 2) * (EDGE / BALLS) + 0.6
velocity = np.random.default_rng(1).normal(size=grid.shape)


def run_from(shift):
    """Frames of a gas of hard disks of which the first is moved by so much."""
    scene = carom.Scene({"scene": {"dimension": 2}, "box": {"size": [EDGE, EDGE]},
                         "run": {"solver": "events", "until": 12.0}, "output": {"every": 0.1}})
    position = grid.copy()
    position[0, 0] += shift
    scene.add_balls(position, velocity, radius=0.3, mass=1.0)
    run = carom.Run(scene, keep_frames=True)
    run.advance()
    return run.frames


# %%
here, there = run_from(0.0), run_from(1e-12)
times = [frame.time for frame in here]
apart = [np.linalg.norm(one.position - other.position, axis=1).max() for one, other in zip(here, there)]

# %%
plt.semilogy(times, apart)
plt.xlabel("time")
plt.ylabel("largest distance between the two runs")
plt.savefig("billiard_chaos.png")
