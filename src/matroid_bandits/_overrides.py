"""Which of two methods was overridden later."""

__all__ = ["is_newer"]


def is_newer(obj: object, method: str, than: str) -> bool:
    """Whether `obj` has `method` from a more derived class than the method `than`.

    A compiled short cut (`than`) answers for a class only while no subclass has changed the
    method it stands for.
    """
    if method in vars(obj):
        return True
    order = [vars(cls) for cls in type(obj).__mro__]
    place = {
        name: next(i for i, names in enumerate(order) if name in names) for name in (method, than)
    }
    return place[method] < place[than]
