# %% [markdown]
# An observable of one's own: how far a gas has mixed. Balls that began in the left half are followed, and the share of them
# that is on the right goes to a half as they diffuse. The function is called for each row, and its numbers are a column of the
# run like any other, with a mean and an error.

# %%
import matplotlib.pyplot as plt

import carom

EDGE = 10.0
scene = carom.Scene({
    "scene": {"dimension": 2, "seed": 5},
    "box": {"size": [EDGE, EDGE]},
    "run": {"solver": "events", "until": 600.0},
    "output": {"observables_every": 0.5},
    "fill": [{"count": 100, "radius": 0.25, "mass": 1.0, "temperature": 1.0}],
})
began_left = []


def mixed(frame):
    """The share of the balls from the left half that is on the right."""
    if not began_left:
        began_left.append(frame.x < EDGE / 2)
    return (frame.x[began_left[0]] > EDGE / 2).mean()


run = carom.Run(scene, observables={"mixed": mixed})
run.advance()

# %%
mean = run.summary["means"]["values"]["mixed"]
print(f"at equilibrium {mean['mean']:.3f} +- {mean['error']:.1g}")

# %%
plt.plot(run.rows["time"], run.rows["mixed"])
plt.axhline(0.5, linestyle="--")
plt.xlabel("time")
plt.ylabel("share on the other side")
plt.savefig("own_observable.png")
