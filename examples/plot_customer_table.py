"""
Groups in a table with categories, dates and gaps
=================================================

A table of customers as it comes from a database: numbers in different units, categories, a date, an id and
missing values. No column is prepared by hand, and the number of groups is not given.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import vicinal
from vicinal.tables import TableEncoder

rng = np.random.default_rng(0)
n = 600
group = rng.integers(0, 3, n)
customers = pd.DataFrame(
    {
        "customer": [f"C{i:05d}" for i in range(n)],
        "revenue": [f"${x:,.0f}" for x in np.exp(rng.normal(np.array([5, 7, 9])[group], 0.4))],
        "visits": rng.poisson(np.array([2, 12, 5])[group]),
        "plan": rng.choice(["free", "basic", "pro"], n),
        "channel": np.array(["web", "shop", "partner"])[group],
        "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D"),
    }
)
other = rng.random(n) < 0.2
customers.loc[other, "channel"] = rng.choice(["web", "shop", "partner"], other.sum())
for column in ("revenue", "visits", "plan", "channel"):
    customers[column] = customers[column].astype(object).where(rng.random(n) > 0.1, None)
print(customers.head())

# %%
# `TableEncoder` says how it reads each column. The id is not used, and neither are columns that are
# independent of all others.

encoder = TableEncoder().fit(customers)
for column in encoder.columns_:
    print(column)

# %%
# Points can follow any method. The number of clusters is chosen from the data.

points = encoder.transform(customers)
model = vicinal.SpectralClustering(random_state=0).fit(points)
accuracy = vicinal.metrics.clustering_accuracy(group, model.labels_)
print(f"{model.n_clusters_} clusters, accuracy {accuracy:.3f}")

embedding = vicinal.LaplacianEigenmaps(n_components=2, random_state=0).fit_transform(points)
ax = vicinal.plot.embedding(embedding, labels=model.labels_)
ax.set_title("customers by all columns")
plt.show()

# %%
# `vicinal.perceive(customers)` does all of this, explains the clusters in words and writes a page; so does
# ``vicinal perceive customers.csv -o report.html``.
