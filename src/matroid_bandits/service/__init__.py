"""The service: bandits over HTTP, whose event log is the truth about them.

``matroid-bandits serve`` starts it. Needs the extra `service`, and `postgres` for PostgreSQL.
"""

try:
    from matroid_bandits.service.app import create_app
except ModuleNotFoundError as error:
    raise ImportError(
        f"the service needs more packages ({error}): pip install 'matroid-bandits[service]'"
    ) from error
from matroid_bandits.service.settings import Limits
from matroid_bandits.service.stores import EventStore, store_at

__all__ = ["EventStore", "Limits", "create_app", "store_at"]
