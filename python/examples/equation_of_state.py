# %% [markdown]
# The equation of state of hard disks: a scan over the packing fraction, beside Henderson's formula (1975),
# Z = (1 + phi^2 / 8) / (1 - phi)^2.

# %%
import matplotlib.pyplot as plt
import numpy as np

import carom

fractions = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
scene = carom.Scene("hard_disks")
scene["run.until"] = 60.0
number = scene["fill[0].count"]
area = float(np.prod(scene["box.size"]))

# %%
table = carom.sweep(scene, {"species[0].radius": np.sqrt(fractions * area / (np.pi * number))}, ["compressibility"])
print(table)

# %%
phi = np.linspace(0.05, 0.55)
plt.plot(phi, (1 + phi**2 / 8) / (1 - phi) ** 2)
plt.errorbar(fractions, table["compressibility"], table["compressibility_se"], fmt="o")
plt.xlabel("packing fraction")
plt.ylabel("p V / N T")
plt.savefig("equation_of_state.png")
