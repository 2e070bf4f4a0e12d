"""Downloads MovieLens once, into the user's cache."""

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from matroid_bandits._arguments import abbreviated

__all__ = ["DownloadError", "cached_movielens", "fetch_movielens"]

_ARCHIVE = "ml-latest-small.zip"
_BASE_URL = "https://files.grouplens.org/datasets/movielens/"
# Of the archive generated on 2018-09-26. GroupLens may replace it in place, under the same name.
_SHA256 = "696d65a3dfceac7c45750ad32df2c259311949efec81f0f144fdfb91ebc9e436"
_CACHE = "MATROID_BANDITS_CACHE"
# Seconds to connect, and between two pieces of data.
_TIMEOUT = (5, 30)
# The archive has 1 MB.
_MAX_BYTES = 100_000_000


class DownloadError(OSError):
    """A data set could not be downloaded, or is not the one we know.

    Attributes
    ----------
    url : str
        What was to be downloaded.
    reason : str
        Why it was not, in a few words.
    """

    def __init__(self, url: str, reason: str, advice: str) -> None:
        super().__init__(f"{url} was not downloaded: {reason}; {advice}")
        self.url = url
        self.reason = reason


def fetch_movielens(*, base_url: str = _BASE_URL, sha256: str = _SHA256) -> Path:
    """The path of ``ml-latest-small.zip``, downloaded at the first call and kept.

    The archive is kept in the user's cache, or in the folder named by the environment variable
    ``MATROID_BANDITS_CACHE``. Its checksum is verified at every call; a file that fails is
    downloaded again. Needs the extra ``experiments``.

    Parameters
    ----------
    base_url : str
        The folder on the server.
    sha256 : str
        The checksum of the archive, by default of the one generated on 2018-09-26.

    Returns
    -------
    pathlib.Path
        What :func:`read_movielens` takes.

    Raises
    ------
    DownloadError
        If there is no connection, the server refuses, or the checksum differs.

    Notes
    -----
    The README in the archive has the terms of use: among others, no commercial use without
    permission.
    """
    for name, value in (("base_url", base_url), ("sha256", sha256)):
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a text, got {abbreviated(value)}")
    url = f"{base_url.rstrip('/')}/{_ARCHIVE}"
    instead = f"download {url} yourself and pass the path of the file to read_movielens"
    try:
        # Imported only here: everything else works without it.
        import pooch  # noqa: PLC0415
        import requests  # noqa: PLC0415  # what pooch downloads with
    except ImportError as error:
        raise ImportError(
            "downloading needs pooch: pip install 'matroid-bandits[experiments]', or " + instead
        ) from error
    folder = _cache()
    try:
        with _quiet(pooch.get_logger()):
            # pooch gives a file its name only after its checksum was verified.
            path = pooch.retrieve(
                url,
                known_hash=f"sha256:{sha256}",
                fname=_ARCHIVE,
                path=folder,
                downloader=_download,
            )
    except requests.Timeout as error:
        raise DownloadError(url, f"{_host(url)} does not answer", instead) from error
    except requests.HTTPError as error:
        raise DownloadError(url, f"{_host(url)} answers {error}", instead) from error
    except requests.ConnectionError as error:
        raise DownloadError(url, f"{_host(url)} cannot be reached", instead) from error
    except OSError as error:
        advice = f"choose another folder by the environment variable {_CACHE}, or {instead}"
        raise DownloadError(url, f"writing to {folder} failed ({error})", advice) from error
    except ValueError as error:
        reason = f"it is not the expected file, whose sha256 is {sha256}"
        advice = f"the file was damaged, or GroupLens has replaced it; try again, or {instead}"
        raise DownloadError(url, reason, advice) from error
    return Path(path)


def cached_movielens() -> Path | None:
    """The path of ``ml-latest-small.zip`` if it was downloaded before; nothing is downloaded."""
    try:
        path = _cache() / _ARCHIVE
        is_known = hashlib.sha256(path.read_bytes()).hexdigest() == _SHA256
    except (ImportError, OSError):
        return None
    return path if is_known else None


def _cache() -> Path:
    """The folder in which downloads are kept."""
    folder = os.environ.get(_CACHE)
    if folder:
        return Path(folder)
    import pooch  # noqa: PLC0415

    return Path(pooch.os_cache("matroid-bandits"))


def _download(url: str, output_file: str, _pooch: object) -> None:
    """Write what the server sends to a file: pooch's own downloader has no limit."""
    import requests  # noqa: PLC0415

    n_bytes = 0
    with (
        requests.get(url, stream=True, timeout=_TIMEOUT) as response,
        Path(output_file).open("wb") as file,
    ):
        response.raise_for_status()
        for chunk in response.iter_content(chunk_size=2**16):
            n_bytes += len(chunk)
            if n_bytes > _MAX_BYTES:
                raise ValueError(f"the server sends more than {_MAX_BYTES:,} bytes")
            file.write(chunk)


def _host(url: str) -> str:
    return urlsplit(url).netloc


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """No log lines below a warning, unless the user has chosen a level."""
    if logger.level != logging.NOTSET:
        yield
        return
    # Not by a level: the logger of pooch, outside of logging's hierarchy, caches old levels.
    logger.addFilter(_matters)
    try:
        yield
    finally:
        logger.removeFilter(_matters)


def _matters(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING
