"""
Embeddings: near-duplicates, clusters and typical rows
======================================================

Embeddings of texts or images are compared by cosine. Here they are made from generated texts; yours come
from a sentence encoder.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

import vicinal

rng = np.random.default_rng(0)
topics = {
    "space": "rocket orbit launch moon probe engine crew station signal mars",
    "food": "bread salt oven butter recipe taste onion garlic soup flour",
    "music": "guitar song album drum stage concert band chord voice record",
    "football": "goal match league player coach team season penalty fans pitch",
}
common = (
    "small large quick slow early late bright dark quiet loud north south east west first last open closed "
    "young old warm cold light heavy simple complex public private common rare local global modern classic "
    "strong weak direct remote fresh stable narrow wide gentle rough silent clear hidden famous"
)
texts, topic = [], []
for number, words in enumerate(topics.values()):
    for _ in range(150):
        texts.append(" ".join([*rng.choice(words.split(), 12), *rng.choice(common.split(), 12)]))
        topic.append(number)
# Some texts are posted twice, with one word changed.
for i in rng.choice(len(texts), 30, replace=False):
    words = texts[i].split()
    words[rng.integers(24)] = rng.choice(common.split())
    texts.append(" ".join(words))
    topic.append(topic[i])
topic = np.array(topic)

counts = TfidfVectorizer().fit_transform(texts)
embeddings = TruncatedSVD(60, random_state=0).fit_transform(counts)

# %%
# **Near-duplicates.** The threshold is read off the data: distances of duplicates and of different texts are
# two groups.

duplicates = vicinal.near_duplicates(embeddings, metric="cosine")
print(f"{len(duplicates.pairs)} pairs closer than {duplicates.threshold:.3f}")
first, second = duplicates.pairs[0]
print(texts[first], "|", texts[second], sep="\n")

# %%
# **Clusters**, without their number, and the most typical text of each.

unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
model = vicinal.SpectralClustering(random_state=0).fit(unit)
print(f"{model.n_clusters_} clusters")
for cluster in range(model.n_clusters_):
    members = np.flatnonzero(model.labels_ == cluster)
    center = unit[members].mean(axis=0)
    print(cluster, texts[members[np.argmax(unit[members] @ center)]])

# %%
# A map of the texts. Points of one colour are one cluster.

embedding = vicinal.LaplacianEigenmaps(n_components=2, random_state=0).fit_transform(unit)
ax = vicinal.plot.embedding(embedding, labels=model.labels_)
ax.set_title("texts by cluster")
plt.show()
