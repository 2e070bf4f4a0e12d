"""A matroid's specification makes it again."""

import json

import pytest

import matroid_bandits as mb


def assert_specified(matroid: mb.Matroid) -> None:
    """The specification is plain data and makes an equal matroid, unless it is Python code."""
    spec = matroid.to_spec()
    text = json.dumps(spec, allow_nan=False)
    assert json.loads(text) == spec
    # What can be compared by its data can be written down, and nothing else can.
    assert (spec["type"] == "python") == (matroid._content() is None)
    if spec["type"] == "python":
        assert mb.matroid_from_spec(spec, matroid) is matroid
        with pytest.raises(ValueError, match="is written in Python: pass it as matroid="):
            mb.matroid_from_spec(spec)
        return
    again = mb.matroid_from_spec(json.loads(text))
    assert again == matroid
    assert hash(again) == hash(matroid)
    assert repr(again) == repr(matroid)
    assert again.to_spec() == spec
    assert again.bases().tolist() == matroid.bases().tolist()
