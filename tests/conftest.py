"""Seeds: a few by default, many with ``SEEDS=all``."""

import os
from importlib.util import find_spec

from hypothesis import settings

# For the type checker only; for `make test-sage` only.
collect_ignore = ["typing", *([] if find_spec("sage") else ["sage"])]

settings.register_profile("default", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("all", deadline=None, max_examples=1000)
settings.load_profile("all" if os.environ.get("SEEDS") == "all" else "default")
