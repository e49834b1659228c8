"""Labels and values from few that are known."""

import vicinal
from vicinal import semi_supervised

from .. import inputs
from ..call import call, fit, odd, on
from ..expect import array, each, equal, error, has
from ..inputs import GROUPS, N_NEW, chunked, dense, few_labels, values

FORMS = [X for X in inputs.FORMS if X not in (inputs.one_row, inputs.equal_rows)]
LABELLED = has(transduction_=equal(GROUPS))
ESTIMATED = has(transduction_=array(90, finite=False))
CLASSES = has(values=array(90, 3), reached=array(90, dtype=bool))
VALUES = has(values=array(90), reached=array(90, dtype=bool))
WALKS = [inputs.tree, inputs.affinity, inputs.sparse_affinity]
OF_GRAPHS = [
    (vicinal.GraphClassifier, few_labels),
    (vicinal.LabelPropagation, few_labels),
    (vicinal.GraphRegressor, values),
]


def with_std(X, y, new, n_jobs=None):
    model = vicinal.GraphRegressor(graph="mst", n_jobs=n_jobs).fit(X, y)
    return model.predict(new, return_std=True)


CALLS = [
    *on(FORMS, fit, vicinal.GraphClassifier, few_labels, expect=LABELLED),
    *on(FORMS, fit, vicinal.LabelPropagation, few_labels, expect=LABELLED),
    *on(FORMS, fit, vicinal.GraphRegressor, values, refuses=[chunked], expect=ESTIMATED),
    *(
        fit(make, X, y, **options)
        for make, y in OF_GRAPHS
        for X, options in [
            (inputs.graph, {}),
            (inputs.equal_rows, {}),
            (inputs.distances, {"graph": "precomputed_distances"}),
            (inputs.sparse_affinity, {"graph": "precomputed_affinity"}),
            (dense, {"graph": "disjoint_mst", "scale": "local"}),
        ]
    ),
    *(
        fit(vicinal.GraphClassifier, dense, few_labels, method=method, expect=LABELLED)
        for method in ("laplace", "poisson", "poisson_mbo", "prior")
    ),
    *(
        fit(vicinal.GraphClassifier, dense, few_labels, class_prior=prior, expect=LABELLED)
        for prior in ("labels", [0.2, 0.3, 0.5], None)
    ),
    fit(vicinal.GraphClassifier, dense, few_labels, method="prior", ridge=1.0, smoothness=0.1),
    fit(vicinal.GraphClassifier, dense, inputs.names),
    fit(vicinal.GraphClassifier, dense, inputs.flipped),
    fit(vicinal.LabelPropagation, dense, few_labels, n_steps=20),
    fit(vicinal.GraphRegressor, dense, values, ridge=0.1, smoothness=1.0),
    call(with_std, dense, values, inputs.new_points, expect=each(array(N_NEW), array(N_NEW))),
    *(
        call(semi_supervised.class_probabilities, W, few_labels, class_prior=prior, expect=CLASSES)
        for W in WALKS
        for prior in (None, "estimate")
    ),
    *(call(semi_supervised.propagate_labels, W, few_labels, expect=CLASSES) for W in WALKS),
    call(semi_supervised.propagate_labels, inputs.tree, few_labels, n_steps=10, expect=CLASSES),
    *(call(semi_supervised.prior_values, W, values, expect=VALUES) for W in WALKS),
    *(odd(make, inputs.ODD, y=GROUPS) for make, _ in OF_GRAPHS),
    fit(vicinal.SimilarityVoteClassifier, dense, few_labels),
    fit(vicinal.SimilarityVoteClassifier, inputs.affinity, few_labels, similarity="precomputed"),
    fit(vicinal.GraphClassifier, dense, inputs.no_labels, expect=error("label")),
    fit(vicinal.GraphClassifier, dense, inputs.too_few_labels, expect=error("y")),
    fit(vicinal.GraphRegressor, dense, inputs.no_values, expect=error("y|value")),
    fit(vicinal.GraphClassifier, dense, few_labels, method="bogus", expect=error("bogus")),
]
