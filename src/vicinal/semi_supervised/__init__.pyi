from vicinal.semi_supervised.classifier import GraphClassifier as GraphClassifier
from vicinal.semi_supervised.graph_prior import class_probabilities as class_probabilities
from vicinal.semi_supervised.graph_prior import prior_values as prior_values
from vicinal.semi_supervised.propagation import LabelPropagation as LabelPropagation
from vicinal.semi_supervised.propagation import propagate_labels as propagate_labels
from vicinal.semi_supervised.regressor import GraphRegressor as GraphRegressor
from vicinal.semi_supervised.similarity_vote import (
    SimilarityVoteClassifier as SimilarityVoteClassifier,
)
