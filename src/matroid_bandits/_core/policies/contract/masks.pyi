from typing import Any

INTP: str

def mask_of(available: Any, size: int, number: dict[Any, int] | None = None) -> Any: ...
