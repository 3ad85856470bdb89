# %% [markdown]
# A Brownian ball: a large, heavy ball in a gas of small ones. A callback follows it, which is an observable of one's own.

# %%
import matplotlib.pyplot as plt
import numpy as np

import carom

EDGE = 20.0
scene = carom.Scene({
    "scene": {"dimension": 2, "seed": 3},
    "box": {"size": [EDGE, EDGE], "boundary": ["periodic", "periodic"]},
    "run": {"solver": "events", "until": 100.0},
    "ball": [{"radius": 1.5, "mass": 50.0, "position": [EDGE / 2, EDGE / 2]}],
    "fill": [{"count": 300, "radius": 0.2, "mass": 1.0, "temperature": 1.0}],
})
run = carom.Run(scene)
track = []
# Where it is, crossings of the periodic faces counted.
run.every(0.1, lambda run: track.append((lambda f: f.position[0] + EDGE * f.image[0])(run.frame())))
run.advance()

# %%
track = np.array(track)
lags = np.arange(1, len(track) // 4)
msd = [((track[lag:] - track[:-lag]) ** 2).sum(axis=1).mean() for lag in lags]

# %%
plt.loglog(0.1 * lags, msd)
plt.xlabel("time")
plt.ylabel("mean square displacement of the large ball")
plt.savefig("brownian_ball.png")
