"""L1 graphs, which express each point by few others."""

from vicinal import codes, graphs

from .. import inputs
from ..call import call, odd, on
from ..expect import error, graph
from ..inputs import dense, one_row, sparse

FORMS = [X for X in inputs.FORMS if X is not one_row]
BUILDERS = [graphs.l1, graphs.structure_aware_l1]
CODED = graph(directed=True)

CALLS = [
    *(c for build in BUILDERS for c in on(FORMS, call, build, refuses=[sparse], expect=CODED)),
    *(call(build, one_row, expect=graph(0, nodes=1, directed=True)) for build in BUILDERS),
    call(codes.l1, inputs.wide, expect=graph(nodes=600, directed=True)),
    *(
        call(codes.l1, dense, **options, expect=CODED)
        for options in ({"penalty": 0.1}, {"equality": True}, {"normalize": False})
    ),
    *(
        call(codes.structure_aware_l1, dense, **options, expect=CODED)
        for options in (
            {"ranking": "euclidean"},
            {"ranking": "perceptual"},
            {"n_atoms": 12, "n_neighbors": 8, "alpha": 0.9},
            {"exact_ranking": True},
            {"correct_degrees": False, "equality": True},
        )
    ),
    *(odd(build, inputs.ODD) for build in BUILDERS),
    call(codes.l1, dense, penalty=-1.0, expect=error("penalty=-1")),
    call(codes.structure_aware_l1, dense, n_atoms=0, expect=error("n_atoms=0")),
]
