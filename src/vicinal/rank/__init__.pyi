from vicinal.rank._pagerank import pagerank as pagerank
from vicinal.rank.label_propagation import LabelPropagationRanking as LabelPropagationRanking
from vicinal.rank.manifold import ManifoldRanking as ManifoldRanking
from vicinal.rank.perceptual import PerceptualRanking as PerceptualRanking
from vicinal.rank.reranker import Reranker as Reranker

__all__: list[str]
__all__ = [
    "LabelPropagationRanking",
    "ManifoldRanking",
    "PerceptualRanking",
    "Reranker",
    "pagerank",
]
