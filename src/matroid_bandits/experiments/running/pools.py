"""Executors of our own: processes on this machine, and Dask."""

import contextlib
import logging
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from typing import Any

from loky import ProcessPoolExecutor

from matroid_bandits._arguments import abbreviated
from matroid_bandits._progress import say
from matroid_bandits.experiments.running.dispatch import Executor
from matroid_bandits.experiments.running.worker import begin_process
from matroid_bandits.experiments.study import StudyError

__all__ = ["available_cores", "check_dask", "dask_cluster", "local_processes", "workers_of"]

# Workers of a cluster may come and go; they are counted again after so many seconds.
_SECONDS = 2.0

# What BLAS reads how many threads it may use from.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# How one speaks to a Dask scheduler; http is its dashboard.
_SCHEMES = "tcp|tls|ucx|ucxx|ws|wss"


def available_cores() -> int:
    """How many processes this one may keep busy."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def local_processes(jobs: int) -> Iterator[Callable[[], Executor]]:
    """A function that starts `jobs` processes; all have ended on exit."""
    # So that they do not import from the folder in which they start.
    safe_path = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    pools: list[Any] = []

    def start() -> Executor:
        for broken in pools:
            broken.shutdown(wait=True, kill_workers=True)
        pool: Executor = ProcessPoolExecutor(
            max_workers=jobs,
            initializer=begin_process,
            initargs=(os.getpid(),),
            # Products of matrices in several threads of several processes wait for each other.
            env=dict.fromkeys(_THREADS, "1"),
        )
        pools[:] = [pool]
        return pool

    try:
        yield start
    finally:
        # All answers are here. A run that has left a thread behind would keep its process alive.
        for pool in pools:
            pool.shutdown(wait=True, kill_workers=True)
        if safe_path is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = safe_path


def check_dask(address: str) -> None:
    """Refuse what cannot be the address of a scheduler, before anything is started.

    Raises
    ------
    ImportError
        If Dask is not installed.
    StudyError
        If the address has no port.
    """
    try:
        import distributed  # noqa: F401, PLC0415
    except ModuleNotFoundError as error:
        raise ImportError(
            f"--dask needs {error.name}: pip install 'matroid-bandits[cluster]'"
        ) from error
    if address != "local" and not re.fullmatch(rf"((?:{_SCHEMES})://)?[^/]+:[0-9]+/?", address):
        raise StudyError(
            "--dask must be the address of a scheduler, such as tcp://host:8786, or local, got "
            f"{abbreviated(address)}"
        )


@contextlib.contextmanager
def dask_cluster(address: str, jobs: int) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """An executor of Dask, and a function that counts its threads.

    Parameters
    ----------
    address : str
        That of a scheduler, such as ``tcp://host:8786``; or ``local`` for workers on this machine.
    jobs : int
        Workers, if they are local.

    Raises
    ------
    StudyError
        If no scheduler answers.
    """
    import distributed  # noqa: PLC0415

    # It has no types.
    library: Any = distributed
    with contextlib.ExitStack() as stack:
        target: Any = address
        if address == "local":
            with _signals_for_this_thread_only():
                target = stack.enter_context(
                    library.LocalCluster(
                        n_workers=jobs,
                        threads_per_worker=1,
                        host="127.0.0.1",
                        # Any port: None would be 8787, which may be taken.
                        dashboard_address="127.0.0.1:0",
                        scheduler_kwargs={"dashboard": False},
                        silence_logs=50,
                    )
                )
        stack.enter_context(_quiet_client())
        client = stack.enter_context(_connected(library.Client, target, address))
        if not client.nthreads():
            say(
                f"the scheduler at {address} has no workers yet; runs begin when one has come "
                f"(dask worker {address} --nworkers auto --nthreads 1)"
            )
        elif max(client.nthreads().values()) > 1:
            say(
                "the Dask workers have several threads: policies written in Python take turns in "
                "them, and their seconds are too large; better is one thread (dask worker ... "
                "--nworkers auto --nthreads 1)"
            )
        yield client.get_executor(), _counted(client)


def _connected(client_class: Any, target: Any, address: str) -> Any:
    """A client of the scheduler; the error of one that does not answer comes at once."""
    # In two steps: what cannot connect must be closed, or it is waited for at the very end.
    client = client_class.__new__(client_class)
    try:
        client.__init__(target, timeout=20, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:
        client.close(timeout=1)
        raise StudyError(
            f"no Dask scheduler answers at {address} ({error}); start one with `dask scheduler`, "
            "or use --dask local"
        ) from None
    return client


@contextlib.contextmanager
def _quiet_client() -> Iterator[None]:
    """Let Dask not print that it does again what was lost; errors come as exceptions."""
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _counted(client: Any) -> Callable[[], int]:
    """A function that counts the threads of a cluster; it asks now and then."""
    known, asked = 0, -_SECONDS

    def count() -> int:
        nonlocal known, asked
        if time.monotonic() - asked > _SECONDS:
            try:
                known, asked = sum(client.nthreads().values()), time.monotonic()
            except (OSError, RuntimeError) as error:
                raise StudyError(
                    f"the Dask scheduler no longer answers ({type(error).__name__}); what was "
                    "finished is kept, and the same command goes on from there"
                ) from error
        return max(1, known)

    return count


@contextlib.contextmanager
def _signals_for_this_thread_only() -> Iterator[None]:
    """Let threads and processes that are started here ignore Ctrl-C and requests to end.

    They would print tracebacks, and lose the runs under way. Both reach this thread afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):
        # On Windows.
        yield
        return
    # It unblocks these signals when it starts, so it must be there before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def workers_of(executor: Any) -> Callable[[], int]:
    """A function that says how many calls an executor can execute at the same time."""
    for name in ("_max_workers", "max_workers", "num_workers"):
        number = getattr(executor, name, None)
        if isinstance(number, int) and number > 0:
            return lambda: number
    client = getattr(executor, "_client", None)
    if hasattr(client, "nthreads"):
        # Of Dask.
        return _counted(client)
    return available_cores
