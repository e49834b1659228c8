"""References to cite for the estimators and graphs that were used."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

from vicinal.exceptions import InvalidTypeError


class Reference(NamedTuple):
    """A publication."""

    key: str
    authors: tuple[str, ...]
    title: str
    venue: str
    year: int

    def __str__(self) -> str:
        names = self.authors
        authors = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return f"{authors}, {self.title}, {self.venue}, {self.year}."

    def bibtex(self) -> str:
        """Format as a BibTeX entry."""
        return (
            f"@misc{{{self.key},\n"
            f"  author = {{{' and '.join(self.authors)}}},\n"
            f"  title = {{{self.title}}},\n"
            f"  howpublished = {{{self.venue}}},\n"
            f"  year = {{{self.year}}}\n}}"
        )


SOFTWARE = Reference(
    "vicinal",
    ("The vicinal developers",),
    "vicinal: similarity learned from the neighbourhood structure of data",
    "Python package",
    2026,
)
SAMPLED_NEIGHBORS = Reference(
    "sugiyama2013",
    ("M. Sugiyama", "K. M. Borgwardt"),
    "Rapid distance-based outlier detection via sampling",
    "NIPS",
    2013,
)
CONTEXTUAL = Reference(
    "zhao2007",
    ("D. Zhao", "Z. Lin", "X. Tang"),
    "Contextual distance for data perception",
    "ICCV",
    2007,
)
SMOOTHING = Reference(
    "jiang2011",
    ("J. Jiang", "B. Wang", "Z. Tu"),
    "Unsupervised metric learning by self-smoothing operator",
    "ICCV",
    2011,
)
ENSEMBLES = Reference(
    "carreira2005",
    ("M. Á. Carreira-Perpiñán", "R. S. Zemel"),
    "Proximity graphs for clustering and manifold learning",
    "NIPS 17",
    2005,
)
CLUSTER_PRESERVING = Reference(
    "zhan2010", ("Y. Zhan", "J. Yin"), "Cluster preserving embedding", "ICPR", 2010
)
STRUCTURE_AWARE = Reference(
    "han2016", ("S. Han", "H. Qin"), "Structure aware L1 graph for data clustering", "AAAI", 2016
)
PATH_BASED = Reference(
    "chang2008",
    ("H. Chang", "D.-Y. Yeung"),
    "Robust path-based spectral clustering",
    "Pattern Recognition 41",
    2008,
)
L1_GRAPH = Reference(
    "cheng2010",
    ("B. Cheng", "J. Yang", "S. Yan", "Y. Fu", "T. Huang"),
    "Learning with l1-graph for image analysis",
    "IEEE Transactions on Image Processing 19",
    2010,
)
SPARSE_SUBSPACE = Reference(
    "elhamifar2013",
    ("E. Elhamifar", "R. Vidal"),
    "Sparse subspace clustering: algorithm, theory, and applications",
    "IEEE PAMI 35",
    2013,
)
DIGRAPH = Reference(
    "chung2005",
    ("F. Chung",),
    "Laplacians and the Cheeger inequality for directed graphs",
    "Annals of Combinatorics 9",
    2005,
)
EIGENMAPS = Reference(
    "belkin2003",
    ("M. Belkin", "P. Niyogi"),
    "Laplacian eigenmaps for dimensionality reduction and data representation",
    "Neural Computation 15",
    2003,
)
DIFFUSION = Reference(
    "coifman2006",
    ("R. Coifman", "S. Lafon"),
    "Diffusion maps",
    "Applied and Computational Harmonic Analysis 21",
    2006,
)
ISOMAP = Reference(
    "tenenbaum2000",
    ("J. Tenenbaum", "V. de Silva", "J. Langford"),
    "A global geometric framework for nonlinear dimensionality reduction",
    "Science 290",
    2000,
)
TSNE = Reference(
    "vandermaaten2008",
    ("L. van der Maaten", "G. Hinton"),
    "Visualizing data using t-SNE",
    "JMLR 9",
    2008,
)
OPEN_TSNE = Reference(
    "policar2024",
    ("P. G. Poličar", "M. Stražar", "B. Zupan"),
    "openTSNE: a modular Python library for t-SNE dimensionality reduction and embedding",
    "Journal of Statistical Software 109",
    2024,
)
NJW = Reference(
    "ng2001",
    ("A. Ng", "M. Jordan", "Y. Weiss"),
    "On spectral clustering: analysis and an algorithm",
    "NIPS",
    2001,
)
NCUT = Reference(
    "shi2000",
    ("J. Shi", "J. Malik"),
    "Normalized cuts and image segmentation",
    "IEEE PAMI 22",
    2000,
)
MANIFOLD_RANKING = Reference(
    "zhou2003",
    ("D. Zhou", "J. Weston", "A. Gretton", "O. Bousquet", "B. Schölkopf"),
    "Ranking on data manifolds",
    "NIPS",
    2003,
)
LABEL_PROPAGATION = Reference(
    "zhu2003",
    ("X. Zhu", "Z. Ghahramani", "J. Lafferty"),
    "Semi-supervised learning using Gaussian fields and harmonic functions",
    "ICML",
    2003,
)

POISSON = Reference(
    "calder2020",
    ("J. Calder", "B. Cook", "M. Thorpe", "D. Slepčev"),
    "Poisson learning: graph based semi-supervised learning at very low label rates",
    "ICML",
    2020,
)

ESTIMATORS: dict[str, tuple[Reference, ...]] = {
    "ClusterPreservingEmbedding": (CLUSTER_PRESERVING, PATH_BASED),
    "DiffusionMaps": (DIFFUSION,),
    "GraphClassifier": (LABEL_PROPAGATION, POISSON, ENSEMBLES),
    "GraphRegressor": (ENSEMBLES,),
    "Isomap": (ISOMAP,),
    "KNNTransformer": (),
    "KernelKMeans": (),
    "LabelPropagation": (LABEL_PROPAGATION,),
    "LabelPropagationRanking": (SMOOTHING,),
    "LaplacianEigenmaps": (EIGENMAPS,),
    "ManifoldRanking": (MANIFOLD_RANKING,),
    "NeighborMap": (TSNE, OPEN_TSNE),
    "OutlierDetector": (SAMPLED_NEIGHBORS,),
    "PerceptualClustering": (CONTEXTUAL, DIGRAPH),
    "PerceptualEmbedding": (CONTEXTUAL, DIGRAPH),
    "PerceptualRanking": (CONTEXTUAL, DIGRAPH),
    "Reranker": (SMOOTHING,),
    "SelfSmoothing": (SMOOTHING,),
    "SimilarityVoteClassifier": (SMOOTHING,),
    "SparseSubspaceClustering": (SPARSE_SUBSPACE,),
    "SpectralClustering": (),
    "TableEncoder": (),
}
METHODS = {"njw": NJW, "ncut": NCUT}
GRAPHS: dict[str, tuple[Reference, ...]] = {
    "contextual": (CONTEXTUAL,),
    "disjoint_mst": (ENSEMBLES,),
    "l1": (L1_GRAPH,),
    "path_similarity": (CLUSTER_PRESERVING, PATH_BASED),
    "perturbed_mst": (ENSEMBLES,),
    "structure_aware_l1": (STRUCTURE_AWARE,),
}


class Citation:
    """References to cite, as text, BibTeX or HTML."""

    def __init__(self, references: list[Reference]) -> None:
        self.references = references

    def __str__(self) -> str:
        return "\n".join(map(str, self.references))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<ul>{''.join(f'<li>{escape(str(reference))}</li>' for reference in self.references)}</ul>"

    def bibtex(self) -> str:
        """Format all references in BibTeX."""
        return "\n\n".join(reference.bibtex() for reference in self.references)


def citation(*models: object) -> Citation:
    """List the publications to cite for the given estimators, graph builders and functions.

    Parameters
    ----------
    *models : estimators or functions of vicinal
        For an estimator, references for its graph are included. Without arguments, only vicinal is listed.

    Returns
    -------
    Citation
        Prints as text; ``bibtex()`` returns BibTeX entries.

    Examples
    --------
    >>> from vicinal import SpectralClustering, citation
    >>> citation(SpectralClustering(2, graph="perturbed_mst"))
    The vicinal developers, vicinal: similarity learned from the neighbourhood structure of data, ...
    A. Ng, M. Jordan and Y. Weiss, On spectral clustering: analysis and an algorithm, NIPS, 2001.
    M. Á. Carreira-Perpiñán and R. S. Zemel, Proximity graphs for clustering and manifold learning, ...
    """
    references = [SOFTWARE]
    for model in models:
        references += _references(model)
    return Citation(list(dict.fromkeys(references)))


def _references(model: Any) -> list[Reference]:
    name = model.__name__ if hasattr(model, "__name__") else type(model).__name__
    if name in GRAPHS:
        return list(GRAPHS[name])
    if name in ESTIMATORS:
        references = list(ESTIMATORS[name])
        if name == "SpectralClustering":
            references.append(METHODS.get(getattr(model, "method", "njw"), NJW))
        graph = getattr(model, "graph", None)
        references += GRAPHS.get(str(getattr(graph, "__name__", graph)), ())
        return references
    module = getattr(model, "__module__", None) or type(model).__module__
    if module.partition(".")[0] == "vicinal":
        return []
    raise InvalidTypeError(
        f"citation got {model!r}, but estimators or functions of vicinal are needed."
    )
