from vicinal.similarity.paths.similarity import path_similarity as path_similarity
from vicinal.similarity.smoothing.estimator import SelfSmoothing as SelfSmoothing
from vicinal.similarity.smoothing.kernel import smoothing_kernel as smoothing_kernel
from vicinal.similarity.smoothing.operator import self_smooth as self_smooth
