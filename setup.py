"""Build the Cython kernels: every ``.pyx`` below ``_core`` is one extension module.

Set ``MATROID_BANDITS_CHECKED=1`` to build with Cython's bounds checks on (slower; `make
test-checked` runs what is about kernels on such a build), ``MATROID_BANDITS_QUICK=1`` to build
without optimisation (`make test-archive` only looks whether an archive is complete).
"""

import os
from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

JOBS = os.cpu_count() or 1
# Kernels that draw random numbers.
DRAWING = ("streams.random_stream", "streams.rewards")
CHECKED = os.environ.get("MATROID_BANDITS_CHECKED", "") not in ("", "0")
QUICK = os.environ.get("MATROID_BANDITS_QUICK", "") not in ("", "0")
# Checks are for tests, and those do not wait for the compiler.
OPTIMISATION = "-O0" if QUICK else "-O1" if CHECKED else "-O3"

CORE = Path("src/matroid_bandits/_core")
sources = sorted(CORE.rglob("*.pyx"))
if not sources:
    raise SystemExit(f"no kernels in {CORE}: the source archive is incomplete")

# What memoryviews need at run time, once for all kernels: in each it would be most of the code.
SHARED = "_memoryviews"


def kernel(name: str, source: str) -> Extension:
    """The extension module `_core.name`."""
    return Extension(
        f"matroid_bandits._core.{name}",
        [source],
        include_dirs=[np.get_include()],
        # NumPy's own C distributions (the ziggurat behind standard_normal), as its documentation
        # on extending numpy.random describes.
        library_dirs=[str(Path(np.__file__).parent / "random" / "lib")],
        libraries=["npyrandom", "m"] if name in DRAWING else [],
        # `_core/checked.pxd`
        define_macros=[("MATROID_BANDITS_CHECKED", "1")] if CHECKED else [],
        # No contraction to fused multiply-add: plays are the same on every machine.
        extra_compile_args=[
            OPTIMISATION,
            "-ffp-contract=off",
            "-fno-math-errno",
            "-fno-trapping-math",
            "-g0",
        ],
    )


extensions = [
    kernel(".".join(source.relative_to(CORE).with_suffix("").parts), str(source))
    for source in sources
]
extensions.append(kernel(SHARED, str(CORE / f"{SHARED}.c")))  # written by Cython

setup(
    # Apart, so that neither kind of build ever picks up objects of the other.
    options={
        "build": {"build_base": "build/checked-objects" if CHECKED else "build/objects"},
        "build_ext": {"parallel": JOBS},
    },
    ext_modules=cythonize(
        extensions,
        nthreads=JOBS,
        shared_utility_qualified_name=f"matroid_bandits._core.{SHARED}",
        build_dir="build/cython-checked" if CHECKED else "build/cython",
        compiler_directives={
            "language_level": "3",
            "boundscheck": CHECKED,
            "wraparound": False,
            "initializedcheck": CHECKED,
            "cdivision": True,
            "embedsignature": True,
        },
    ),
)
