"""The README's examples run."""

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_examples_run(capsys) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert len(blocks) == 2
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)
    tree = [("Paris", "Oslo"), ("Cork", "Paris"), ("Cork", "Rome"), ("Wien", "Cork")]
    assert capsys.readouterr().out == f"{tree}\n"
