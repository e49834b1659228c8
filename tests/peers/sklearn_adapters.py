"""Pytest plugin that puts our estimators in the place of scikit-learn's, so that its own tests run on them.

Each adapter has the parameters of its counterpart and translates them, nothing else. What has no counterpart
here raises `NoCounterpart`. Loaded by ``-p sklearn_adapters`` before the tests of scikit-learn are imported.
"""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import sklearn.cluster
import sklearn.cluster._spectral
import sklearn.manifold
import sklearn.semi_supervised._label_propagation
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, TransformerMixin
from sklearn.metrics.pairwise import pairwise_kernels

import vicinal
from vicinal._base.row_assignment import assign_rows
from vicinal._core.options import seed_from


class NoCounterpart(NotImplementedError):
    """scikit-learn has it, vicinal does not."""


def _affinity_input(model, X):
    """Parameters of our estimator, and its X, for an affinity of scikit-learn."""
    affinity = model.affinity
    if affinity == "nearest_neighbors":
        # There a point counts itself, and weights are 0 or 1.
        k = (model.n_neighbors or max(int(X.shape[0] / 10), 1)) - 1
        return {"graph": "knn", "graph_params": {"n_neighbors": k}, "scale": np.inf}, X
    if affinity == "precomputed_nearest_neighbors":
        return {"graph": "precomputed_distances", "scale": np.inf}, X
    if affinity == "precomputed":
        return {"graph": "precomputed_affinity"}, X
    if model.one_argument and callable(affinity):
        return {"graph": "precomputed_affinity"}, affinity(X)
    names = () if callable(affinity) else ("gamma", "degree", "coef0")
    known = {name: getattr(model, name) for name in names if hasattr(model, name)}
    matrix = pairwise_kernels(X, metric=affinity, filter_params=True, **known)
    return {"graph": "precomputed_affinity"}, matrix


class SpectralClustering(ClusterMixin, BaseEstimator):
    one_argument = False

    def __init__(
        self,
        n_clusters=8,
        *,
        eigen_solver=None,
        n_components=None,
        random_state=None,
        gamma=1.0,
        affinity="rbf",
        n_neighbors=10,
        assign_labels="kmeans",
        degree=3,
        coef0=1,
        verbose=False,
    ):
        self.n_clusters, self.eigen_solver, self.n_components = (
            n_clusters,
            eigen_solver,
            n_components,
        )
        self.random_state, self.gamma, self.affinity = random_state, gamma, affinity
        self.n_neighbors, self.assign_labels = n_neighbors, assign_labels
        self.degree, self.coef0, self.verbose = degree, coef0, verbose

    def fit(self, X, y=None):
        if self.assign_labels == "cluster_qr":
            raise NoCounterpart("assign_labels='cluster_qr'")
        if self.n_components not in (None, self.n_clusters):
            raise NoCounterpart("n_components that differs from n_clusters")
        parameters, X = _affinity_input(self, X)
        parameters |= {"assign": self.assign_labels, "random_state": self.random_state}
        self.labels_ = vicinal.SpectralClustering(self.n_clusters, **parameters).fit(X).labels_
        return self


def spectral_clustering(affinity, *, n_clusters=8, eigen_solver=None, random_state=None):
    if eigen_solver == "amg" and find_spec("pyamg") is None:
        # scikit-learn's error; here the solver is not chosen by the user.
        raise ValueError("pyamg is not installed")
    model = SpectralClustering(n_clusters, affinity="precomputed", random_state=random_state)
    return model.fit(affinity).labels_


def discretize(vectors, *, random_state=None):
    # Rows as scikit-learn's: columns of equal norm, rows of norm 1, the sign from the first entry.
    vectors = vectors / np.linalg.norm(vectors, axis=0) * np.sqrt(len(vectors))
    vectors = vectors * np.where(vectors[0] > 0, -1, 1)
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return assign_rows(vectors, vectors.shape[1], "discretize", seed_from(random_state))[0]


class SpectralEmbedding(BaseEstimator):
    one_argument = True

    def __init__(
        self,
        n_components=2,
        *,
        affinity="nearest_neighbors",
        gamma=None,
        random_state=None,
        eigen_solver=None,
        eigen_tol="auto",
        n_neighbors=None,
    ):
        self.n_components, self.affinity, self.gamma = n_components, affinity, gamma
        self.random_state, self.eigen_solver = random_state, eigen_solver
        self.eigen_tol, self.n_neighbors = eigen_tol, n_neighbors

    def fit(self, X, y=None):
        parameters, X = _affinity_input(self, X)
        model = vicinal.LaplacianEigenmaps(
            self.n_components, random_state=self.random_state, **parameters
        ).fit(X)
        affinity = model.affinity_
        self.affinity_matrix_ = affinity if sparse.issparse(X) else affinity.toarray()
        self.embedding_ = model.embedding_
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X).embedding_


def spectral_embedding(
    adjacency,
    *,
    n_components=8,
    eigen_solver=None,
    random_state=None,
    eigen_tol="auto",
    norm_laplacian=True,
    drop_first=True,
):
    if not norm_laplacian or not drop_first or eigen_tol != "auto":
        raise NoCounterpart("norm_laplacian=False, drop_first=False or eigen_tol")
    model = SpectralEmbedding(n_components, affinity="precomputed", random_state=random_state)
    return model.fit_transform(adjacency)


class Isomap(TransformerMixin, BaseEstimator):
    def __init__(
        self,
        *,
        n_neighbors=5,
        radius=None,
        n_components=2,
        eigen_solver="auto",
        path_method="auto",
        neighbors_algorithm="auto",
        metric="minkowski",
        p=2,
    ):
        self.n_neighbors, self.radius, self.n_components = n_neighbors, radius, n_components
        self.eigen_solver, self.path_method = eigen_solver, path_method
        self.neighbors_algorithm, self.metric, self.p = neighbors_algorithm, metric, p

    def fit(self, X, y=None):
        if self.n_neighbors is not None and self.radius is not None:
            raise NoCounterpart("n_neighbors and radius are not both parameters of a graph here")
        metric = self.metric
        if metric == "minkowski":
            metric = {1: "manhattan", 2: "euclidean"}[self.p]
        if metric == "precomputed" and sparse.issparse(X):
            graph, parameters = "precomputed_distances", None
        elif self.radius == np.inf:
            graph, parameters = "complete", {"metric": metric}
        elif self.radius is not None:
            graph, parameters = "epsilon_ball", {"radius": self.radius, "metric": metric}
        else:
            graph, parameters = "knn", {"n_neighbors": self.n_neighbors, "metric": metric}
        self.model_ = vicinal.Isomap(self.n_components, graph=graph, graph_params=parameters).fit(X)
        self.embedding_, self.dist_matrix_ = self.model_.embedding_, self.model_.geodesics_
        self.nbrs_ = SimpleNamespace(n_neighbors=self.n_neighbors)
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X).embedding_

    def transform(self, X):
        return self.model_.transform(X)

    def reconstruction_error(self):
        return self.model_.reconstruction_error()

    def get_feature_names_out(self, input_features=None):
        return self.model_.get_feature_names_out(input_features)


class LabelPropagation(ClassifierMixin, BaseEstimator):
    def __init__(self, kernel="rbf", *, gamma=20, n_neighbors=7, max_iter=1000, tol=1e-3):
        self.kernel, self.gamma, self.n_neighbors = kernel, gamma, n_neighbors
        self.max_iter, self.tol = max_iter, tol

    def fit(self, X, y):
        if self.kernel == "rbf":
            parameters = {"graph": "complete", "scale": np.sqrt(0.5 / self.gamma)}
        elif self.kernel == "knn":
            # There a point counts itself, and weights are 0 or 1.
            k = max(self.n_neighbors - 1, 1)
            parameters = {"graph": "knn", "graph_params": {"n_neighbors": k}, "scale": np.inf}
        else:
            X, parameters = self.kernel(X, X), {"graph": "precomputed_affinity"}
        self.model_ = vicinal.LabelPropagation(**parameters).fit(X, y)
        self.transduction_ = self.model_.transduction_
        self.label_distributions_ = self.model_.label_distributions_
        return self

    def _build_graph(self):
        return vicinal.operators.transition(self.model_.affinity_).toarray()

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def pytest_configure(config):
    """Replace the classes when loaded as a plugin; an import alone changes nothing."""
    sklearn.cluster.SpectralClustering = SpectralClustering
    sklearn.cluster.spectral_clustering = spectral_clustering
    sklearn.cluster._spectral.discretize = discretize
    sklearn.manifold.SpectralEmbedding = SpectralEmbedding
    sklearn.manifold.spectral_embedding = spectral_embedding
    sklearn.manifold.Isomap = Isomap
    sklearn.semi_supervised._label_propagation.LabelPropagation = LabelPropagation
