from vicinal.rank.manifold import ManifoldRanking as ManifoldRanking
from vicinal.rank.perceptual import PerceptualRanking as PerceptualRanking
from vicinal.rank.reranker import Reranker as Reranker
