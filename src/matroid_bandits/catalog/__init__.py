"""Things by name: the classes of the package, matroids like ``K20`` or ``fano``, and policies with
parameters.

The command line and study files use these names, and so can programs:

>>> from matroid_bandits import catalog
>>> catalog.matroid("U(15,30)")
UniformMatroid(rank=15, size=30)
>>> catalog.policy("MAUB(neighborhood=paper)")(catalog.matroid("K5")).neighborhood
'paper'

Matroids that have a name are functions too:

>>> catalog.wheel(5).rank
5
"""

from matroid_bandits.catalog.classes import (
    ENVIRONMENTS,
    INDICES,
    MATROIDS,
    POLICIES,
    NamedPolicy,
    environment_class,
    policy,
    policy_class,
    summary,
    takes_features,
    takes_seed,
)
from matroid_bandits.catalog.environments import NamedEnvironment, environment
from matroid_bandits.catalog.geometries import (
    affine_geometry,
    affine_plane,
    desargues,
    fano,
    non_fano,
    non_pappus,
    pappus,
    projective_geometry,
    projective_plane,
    r10,
    vamos,
    whirl,
)
from matroid_bandits.catalog.graphs import (
    complete_bipartite,
    complete_graph,
    grid,
    ladder,
    petersen,
    prism,
    wheel,
)
from matroid_bandits.catalog.named import (
    NAMED,
    NamedMatroid,
    matroid,
    uniform,
)

__all__ = [
    "ENVIRONMENTS",
    "INDICES",
    "MATROIDS",
    "NAMED",
    "POLICIES",
    "NamedEnvironment",
    "NamedMatroid",
    "NamedPolicy",
    "affine_geometry",
    "affine_plane",
    "complete_bipartite",
    "complete_graph",
    "desargues",
    "environment",
    "environment_class",
    "fano",
    "grid",
    "ladder",
    "matroid",
    "non_fano",
    "non_pappus",
    "pappus",
    "petersen",
    "policy",
    "policy_class",
    "prism",
    "projective_geometry",
    "projective_plane",
    "r10",
    "summary",
    "takes_features",
    "takes_seed",
    "uniform",
    "vamos",
    "wheel",
    "whirl",
]
