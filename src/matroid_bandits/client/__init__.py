"""The Python client of the HTTP service.

>>> from matroid_bandits.client import Client

It needs nothing besides the package itself: neither the service's extra nor an HTTP library.
"""

from matroid_bandits.client.client import Client
from matroid_bandits.client.errors import (
    Conflict,
    Gone,
    NotFound,
    Refused,
    ServiceError,
    Unavailable,
)
from matroid_bandits.client.messages import Learned, ServedDecision

__all__ = [
    "Client",
    "Conflict",
    "Gone",
    "Learned",
    "NotFound",
    "Refused",
    "ServedDecision",
    "ServiceError",
    "Unavailable",
]
