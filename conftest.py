"""What needs SageMath is collected only where there is SageMath: `make test-sage`."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("sage") else ["tests/sage", "src/matroid_bandits/adapters/sage.py"]
