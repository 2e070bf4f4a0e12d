"""Build the Cython kernels: every ``.pyx`` below ``_core`` is one extension module.

Environment variables choose other builds, each in directories of its own:

- ``MATROID_BANDITS_CHECKED=1``: with Cython's bounds checks and the code under ``if CHECKED``
  (`make test-checked`);
- ``MATROID_BANDITS_SANITIZED=1``: with AddressSanitizer and UndefinedBehaviorSanitizer, which also
  see what raw pointers do (`make test-sanitized`);
- ``MATROID_BANDITS_TRACED=1``: with line tracing, for the coverage of kernels (`make coverage`);
- ``MATROID_BANDITS_QUICK=1``: without optimization, for the fastest build.
"""

import os
from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

JOBS = os.cpu_count() or 1
# Kernels that draw random numbers.
DRAWING = ("streams.random_stream", "streams.rewards")


def is_set(variable: str) -> bool:
    """Whether this kind of build is set in the environment."""
    return os.environ.get(f"MATROID_BANDITS_{variable}", "") not in ("", "0")


CHECKED = is_set("CHECKED")
SANITIZED = is_set("SANITIZED")
TRACED = is_set("TRACED")
# Builds for tests are compiled fast rather than run fast.
OPTIMIZATION = "-O0" if is_set("QUICK") else "-O1" if CHECKED or SANITIZED or TRACED else "-O3"
# The first error ends the process, with a traceback of the C functions.
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1"]
# One directory for each kind of build: none picks up objects of another.
KINDS = {"sanitized": SANITIZED, "checked": CHECKED, "traced": TRACED}
BUILD = next((f"build/{kind}-" for kind, is_wanted in KINDS.items() if is_wanted), "build/")

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
        # `_core/checked.pxd`; Cython's name for line tracing, also where the GIL is released
        define_macros=[
            *([("MATROID_BANDITS_CHECKED", "1")] if CHECKED else []),
            *([("CYTHON_TRACE_NOGIL", "1")] if TRACED else []),
        ],
        # No contraction to fused multiply-add: plays are the same on every machine.
        extra_compile_args=[
            OPTIMIZATION,
            "-ffp-contract=off",
            "-fno-math-errno",
            "-fno-trapping-math",
            *(SANITIZE if SANITIZED else ["-g0"]),
        ],
        extra_link_args=SANITIZE if SANITIZED else [],
    )


extensions = [
    kernel(".".join(source.relative_to(CORE).with_suffix("").parts), str(source))
    for source in sources
]
extensions.append(kernel(SHARED, str(CORE / f"{SHARED}.c")))  # written by Cython

setup(
    options={
        "build": {"build_base": f"{BUILD}objects"},
        "build_ext": {"parallel": JOBS},
    },
    ext_modules=cythonize(
        extensions,
        nthreads=JOBS,
        shared_utility_qualified_name=f"matroid_bandits._core.{SHARED}",
        build_dir=f"{BUILD}cython",
        compiler_directives={
            "language_level": "3",
            "boundscheck": CHECKED,
            "wraparound": False,
            "initializedcheck": CHECKED,
            "cdivision": True,
            "embedsignature": True,
            "linetrace": TRACED,
        },
    ),
)
