"""The doctests of the adapter need SageMath: `make test-sage`."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("sage") else ["src/matroid_bandits/adapters/sage.py"]
