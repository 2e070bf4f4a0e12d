"""`_core/portable.h`: what compilers have built in, and plain C in its place, compute the same."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "src" / "matroid_bandits" / "_core"
COMPILER = shutil.which(os.environ.get("CC", "cc"))
MASK = 2**64 - 1

PROGRAM = """
#include <inttypes.h>
#include <stdio.h>
#include "portable.h"

MB_ALWAYS_INLINE mb_wide multiply_add(mb_wide a, mb_wide b) {
    return mb_add(mb_multiply(a, b), a);
}

int main(void) {
    uint64_t w[4];
    while (scanf("%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, w, w + 1, w + 2, w + 3) == 4) {
        mb_wide result = multiply_add(mb_join(w[0], w[1]), mb_join(w[2], w[3]));
        mb_prefetch(w);
        printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %d\\n", mb_high(result), mb_low(result),
               mb_high_word(w[0], w[2]), w[0] ? mb_lowest_bit(w[0]) : -1);
    }
    return 0;
}
"""


def words(count):
    """Words with few bits, many bits, and at random: sums and products that carry."""
    rng = random.Random(0)
    edges = [0, 1, 2, 2**31, 2**32 - 1, 2**32, 2**63, MASK - 1, MASK]
    edges += [1 << place for place in range(64)]
    return [
        [rng.choice(edges) if rng.random() < 0.5 else rng.getrandbits(64) for _ in range(4)]
        for _ in range(count)
    ]


def expected(w):
    a, b = w[0] << 64 | w[1], w[2] << 64 | w[3]
    result = (a * b + a) % 2**128
    lowest = (w[0] & -w[0]).bit_length() - 1
    return [result >> 64, result & MASK, w[0] * w[2] >> 64, lowest]


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
@pytest.mark.parametrize("options", [[], ["-DMATROID_BANDITS_PORTABLE"]], ids=["built-in", "plain"])
def test_words_of_128_bits(tmp_path, options):
    source = tmp_path / "words.c"
    source.write_text(PROGRAM, encoding="utf-8")
    program = tmp_path / "words"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", f"-I{CORE}", *options]
    subprocess.run([COMPILER, *flags, str(source), "-o", str(program)], check=True)
    given = words(2_000)
    lines = "\n".join(" ".join(map(str, w)) for w in given)
    output = subprocess.run([program], input=lines, stdout=-1, text=True, check=True).stdout
    assert [list(map(int, line.split())) for line in output.splitlines()] == list(
        map(expected, given)
    )
