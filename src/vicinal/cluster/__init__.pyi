from vicinal.cluster._spectral_labels import spectral_labels as spectral_labels
from vicinal.cluster.kernel_kmeans import KernelKMeans as KernelKMeans
from vicinal.cluster.perceptual import PerceptualClustering as PerceptualClustering
from vicinal.cluster.sparse_subspace import SparseSubspaceClustering as SparseSubspaceClustering
from vicinal.cluster.spectral import SpectralClustering as SpectralClustering
from vicinal.cluster.subspaces import k_subspaces as k_subspaces
from vicinal.evidence.decision import estimate_clusters as estimate_clusters
