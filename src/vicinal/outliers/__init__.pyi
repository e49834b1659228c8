from vicinal.outliers.detector import OutlierDetector as OutlierDetector

__all__: list[str]
__all__ = [
    "OutlierDetector",
]
