from vicinal.outliers.detector import OutlierDetector as OutlierDetector
