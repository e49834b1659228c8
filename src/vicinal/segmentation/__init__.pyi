from vicinal.segmentation.normalized_cut import segment as segment
