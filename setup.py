"""Build the Cython kernels: every ``.pyx`` below ``_core`` is one extension module.

Environment variables choose other builds, each in directories of its own:

- ``MATROID_BANDITS_CHECKED=1``: with Cython's bounds checks and the code under ``if CHECKED``
  (`make test-checked`);
- ``MATROID_BANDITS_SANITIZED=1``: with AddressSanitizer and UndefinedBehaviorSanitizer, which also
  see what raw pointers do (`make test-sanitized`);
- ``MATROID_BANDITS_TRACED=1``: with line tracing, for the coverage of kernels (`make coverage`);
- ``MATROID_BANDITS_PORTABLE=1``: with plain C in place of what compilers have built in
  (`_core/portable.h`);
- ``MATROID_BANDITS_QUICK=1``: without optimization, for the fastest build.

What is compiled stays in ``build/``, also for `pip install --editable`. A kernel is translated and
compiled again if what it is made from has changed: contents, not dates, because pip installs Cython
and NumPy anew for every build. So another extra compiles nothing.
"""

import hashlib
import os
import re
import sys
import sysconfig
from pathlib import Path

import numpy as np
from Cython import __version__ as cython_version
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

JOBS = os.cpu_count() or 1
# Kernels that draw random numbers.
DRAWING = ("streams.random_stream", "streams.rewards")


def is_set(variable: str) -> bool:
    """Whether this kind of build is set in the environment."""
    return os.environ.get(f"MATROID_BANDITS_{variable}", "") not in ("", "0")


CHECKED = is_set("CHECKED")
SANITIZED = is_set("SANITIZED")
TRACED = is_set("TRACED")
PORTABLE = is_set("PORTABLE")
QUICK = is_set("QUICK")
# Builds for tests are compiled fast rather than run fast.
OPTIMIZATION = "-O0" if QUICK else "-O1" if CHECKED or SANITIZED or TRACED else "-O3"
# The first error ends the process, with a traceback of the C functions.
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1"]
# No contraction to fused multiply-add: plays are the same on every machine.
UNIX_FLAGS = [
    OPTIMIZATION,
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    *(SANITIZE if SANITIZED else ["-g0"]),
]
MSVC_FLAGS = ["/Od" if QUICK else "/O2", "/fp:precise"]
# One directory for each kind of build: none picks up objects of another.
KINDS = ("SANITIZED", "CHECKED", "TRACED", "PORTABLE", "QUICK")
BUILD = "build/" + "".join(f"{kind.lower()}-" for kind in KINDS if is_set(kind))

CORE = Path("src/matroid_bandits/_core")
# What memoryviews need at run time, once for all kernels: in each it would be most of the code.
SHARED = "_memoryviews"
METADATA = re.compile(rb"/\* BEGIN: Cython Metadata.*?END: Cython Metadata \*/", re.DOTALL)


class BuildKernels(build_ext):
    """Chooses flags by compiler, and keeps the objects of editable installations."""

    def finalize_options(self) -> None:
        super().finalize_options()
        if self.editable_mode:
            # setuptools would build in temporary directories, hence everything, every time.
            python = f"{sysconfig.get_platform()}-{sys.implementation.cache_tag}{sys.abiflags}"
            self.build_lib = f"{BUILD}objects/editable-{python}"
            self.build_temp = f"{BUILD}objects/temporary-{python}"

    def build_extensions(self) -> None:
        is_msvc = self.compiler.compiler_type == "msvc"
        if is_msvc and SANITIZED:
            raise SystemExit("MATROID_BANDITS_SANITIZED=1 needs gcc or clang")
        for extension in self.extensions:
            extension.extra_compile_args = MSVC_FLAGS if is_msvc else UNIX_FLAGS
            if not is_msvc:
                extension.libraries = [*extension.libraries, "m"]
        super().build_extensions()

    def build_extension(self, ext: Extension) -> None:
        """Compile a kernel, unless it was compiled from the same C code in the same way."""
        built = Path(self.get_ext_fullpath(ext.name))
        stamp = Path(self.build_temp) / f"{ext.name}.digest"
        digest = self.digest_of(ext)
        if built.exists() and stamp.exists() and stamp.read_text("ascii") == digest:
            return
        stamp.unlink(missing_ok=True)
        built.unlink(missing_ok=True)
        super().build_extension(ext)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(digest, "ascii")

    def digest_of(self, ext: Extension) -> str:
        """A digest of the C code and of how it is compiled."""
        how = [ext.extra_compile_args, ext.extra_link_args, ext.libraries, ext.define_macros]
        digest = hashlib.sha256(repr([self.compiler.compiler_type, how]).encode())
        for path in (*ext.sources, *ext.depends):
            # Cython notes where NumPy's headers are: in a new temporary directory every time.
            digest.update(METADATA.sub(b"", Path(path).read_bytes()))
        return digest.hexdigest()


def kernel(name: str, source: str) -> Extension:
    """The extension module `_core.name`."""
    return Extension(
        f"matroid_bandits._core.{name}",
        [source],
        include_dirs=[np.get_include(), str(CORE)],
        # NumPy's own C distributions (the ziggurat behind standard_normal), as its documentation
        # on extending numpy.random describes.
        library_dirs=[str(Path(np.__file__).parent / "random" / "lib")],
        libraries=["npyrandom"] if name in DRAWING else [],
        define_macros=[
            *([("MATROID_BANDITS_CHECKED", "1")] if CHECKED else []),  # `_core/checked.pxd`
            *([("MATROID_BANDITS_PORTABLE", "1")] if PORTABLE else []),  # `_core/portable.h`
            *([("CYTHON_TRACE_NOGIL", "1")] if TRACED else []),
        ],
        extra_link_args=SANITIZE if SANITIZED else [],
        depends=[str(CORE / "portable.h")],
    )


def kernels() -> list[Extension]:
    """All extension modules, translated to C."""
    sources = sorted(CORE.rglob("*.pyx"))
    if not sources:
        raise SystemExit(f"no kernels in {CORE}: the source archive is incomplete")
    extensions = [
        kernel(".".join(source.relative_to(CORE).with_suffix("").parts), str(source))
        for source in sources
    ]
    extensions.append(kernel(SHARED, str(CORE / f"{SHARED}.c")))  # written by Cython
    translated = {Path(f"{BUILD}cython") / path.with_suffix(".c"): path for path in sources}
    digests = translation_digests(translated)
    for c_file, digest in digests.items():
        stamp = c_file.with_suffix(".digest")
        if c_file.exists() and stamp.exists() and stamp.read_text("ascii") == digest:
            c_file.touch()  # newer than everything that Cython compares it with
        else:
            c_file.unlink(missing_ok=True)
    modules: list[Extension] = cythonize(
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
    )
    for c_file, digest in digests.items():
        c_file.with_suffix(".digest").write_text(digest, "ascii")
    return modules


def translation_digests(translated: dict[Path, Path]) -> dict[Path, str]:
    """By C file: a digest of its kernel, of all declarations, and of how they are translated."""
    common = hashlib.sha256(f"{cython_version} {sorted(KINDS)}".encode())
    for path in (Path("setup.py"), *sorted(CORE.rglob("*.pxd"))):
        common.update(path.read_bytes())
    digests = {}
    for c_file, source in translated.items():
        own = common.copy()
        own.update(source.read_bytes())
        digests[c_file] = own.hexdigest()
    return digests


# Where processes are not forked, those that translate kernels import this file.
if __name__ == "__main__":
    setup(
        cmdclass={"build_ext": BuildKernels},
        options={
            "build": {"build_base": f"{BUILD}objects"},
            "build_ext": {"parallel": JOBS},
        },
        ext_modules=kernels(),
    )
