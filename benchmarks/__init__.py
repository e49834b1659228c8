"""Benchmarks of vicinal and comparable libraries: ``python -m benchmarks graphs``, or another suite.

Times of calls:

- `cases`: what is measured, and the target of each case
- `contenders`: how graphs and neighbours are computed with each library, and how results are checked
- `tasks`: clustering, embedding, classification and segmentation
- `perception`: contextual distances, clustering in noise and ranking
- `smoothing`: self-smoothing
- `paths`: path-based similarity and cluster preserving embedding
- `codes`: graphs of sparse codes
- `large`: a million points
- `suites`: all of them together
- `data`: the data
- `worker`: one contender on one case, in its own process
- `runner`: all contenders of a case, each in a new process
- `report`: ratios, targets, and the written tables

Other measurements:

- `start`: import and first fit in a new process
- `shapes`: clustering accuracy on small sets with difficult shapes
- `clusters`: the estimated number of clusters
- `noise`: noise labels
- `outliers`: outlier scores
- `labels`: classes from few labels, their calibration, and suggested labels
- `trees`: spectral clustering on perturbed and disjoint spanning trees
- `steps`: the number of smoothing steps chosen without labels, compared with the best in hindsight
- `labeled_sets`: data with known clusters, noise or outliers
"""
