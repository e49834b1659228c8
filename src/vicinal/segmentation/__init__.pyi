from vicinal.segmentation.normalized_cut import segment as segment

__all__: list[str]
__all__ = [
    "segment",
]
