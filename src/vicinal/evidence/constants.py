"""Every number that decides the number of clusters, their layers and the noise, with its origin.

derived: follows from a formula that its comment names. conventional: the usual choice, not tuned.
null: measured on generated sets of one cluster (`python -m benchmarks evidence`: structureless, curves).
chosen: by sums over development sets. That communities may decide by score was also seen on wine.
"""

from __future__ import annotations

# --- The neighbour graph -------------------------------------------------------------------------------
# conventional: neighbours of a point, and the one whose distance is its scale (Zelnik-Manor and Perona).
N_NEIGHBORS, SCALE_NEIGHBOR = 10, 7
# conventional: neighbours that two points share are counted among so many.
N_SHARED = 15
# chosen: in more dimensions, lengths say less than shared neighbours.
MAX_LENGTH_DIMENSION = 3.0
# derived: fewer distinct points are one cluster, because a fifth of them would be the neighbours of each.
MIN_POINTS = 40
# cost: of more points, a random sample is examined.
MAX_POINTS = 10_000

# --- Gaps of the spectrum --------------------------------------------------------------------------------
# null: the largest relative gap of one cluster is 2.4, of a rolled strip.
MIN_GAP = 2.5
# conventional: numbers of clusters whose gaps are compared, at least.
MIN_CANDIDATES = 20
# conventional: smaller groups behind a gap are outliers.
MIN_GROUP = 15

# --- Valleys across borders ------------------------------------------------------------------------------
# conventional: the smallest window of a density along the walk, in points.
MIN_WINDOW = 8
# null: log depth that the sparsest path through one cluster has without being a valley.
CHANCE_DEPTH = 0.3
# chosen: standard errors by which a valley is deeper than chance, in compact sets and on curves, where the
# sparsest of many cross-sections is found.
MIN_VALLEY, MIN_VALLEY_ON_CURVES = 2.5, 3.0
# chosen: length of the longest path relative to a square with as many neighbourhoods, of compact sets and
# of curves.
COMPACT, CURVE = 1.3, 2.0
# chosen: groups without half of this much of a valley merge by the strength of their link.
FREE_VALLEY = 1.5
# conventional: standard deviations of the walk that are looked at on both sides, and at least so many points.
REACH, MIN_SIDE = 3.0, 100
# cost: steps of a walk; between them it is as long as the border.
MIN_STEPS, MAX_STEPS = 32, 128

# --- Communities -----------------------------------------------------------------------------------------
# conventional: neighbours of the graphs whose communities are compared.
COMMUNITY_SCALES = (5, 10, 15)
# chosen: modularity in excess of that of one cluster.
MIN_EXCESS = 0.05

# --- Noise -----------------------------------------------------------------------------------------------
# derived: numbers of neighbours, and the standard deviation of the mean log volume of the balls that reach
# them in a region of constant density.
SAMPLING_ERRORS = {8: 0.492, 5: 0.618}
# conventional: log odds of 20 to 1; and chosen: so much for each point of noise, because a large background
# that gains little describes the edges of clusters.
MIN_GAIN, MIN_GAIN_PER_POINT = 3.0, 0.1
# null: scale of the exponential tail of a cluster; 1 for a normal one, 0.4 to 0.85 if neighbours estimate it.
MAX_TAIL = 0.8
# chosen: more noise than this must also be more likely than clusters with tails up to this scale.
MAX_UNTESTED, HEAVY_TAIL = 0.1, 6.0
# conventional: noise is at least e times as sparse as members; it is at most so much of all points.
MIN_SEPARATION, MAX_NOISE = 1.0, 2 / 3
# derived: F1 is largest if points count as noise from a probability of 0.4 on, so the odds are multiplied.
NOISE_ODDS = 1.5
# conventional: a point is an outlier if so many as sparse are expected in one cluster.
EXPECTED_OUTLIERS = 0.01
# conventional: clusters are looked for again without the noise if it is this fraction of the points.
MIN_NOISE_TO_REPEAT = 0.01
# cost: points that a mixture is fitted to.
MAX_FITTED = 2_000
