"""Rewards of a run, one random stream per element, replayable with NumPy's public API.

The stream of element e is ``numpy.random.default_rng([REWARDS, seed, e])``, as
docs/reference/random-numbers.md says. A million ``Generator`` objects would need gigabytes and half
a minute, so the two public algorithms behind them are written out here: SeedSequence's hash and
PCG64. A stream is then four words of state, seeded when the element is first played. The tests
compare the streams with NumPy's own.
"""

import numpy as np

from libc.stdint cimport uint32_t, uint64_t

from matroid_bandits._core.streams.random_stream cimport bitgen_t

from matroid_bandits._arguments import element_array, integer, not_an_element
from matroid_bandits._streams import REWARDS

cdef extern from *:
    """
    #include <string.h>
    #include "portable.h"

    /* PCG XSL RR 128/64 (O'Neill 2014), the bit generator behind numpy.random.default_rng.
       words = state low, state high, increment low, increment high. */
    static inline mb_wide pcg_step(mb_wide state, const uint64_t *words) {
        const mb_wide multiplier = mb_join(0x2360ed051fc65da4ULL, 0x4385df649fccf645ULL);
        return mb_add(mb_multiply(state, multiplier), mb_join(words[3], words[2]));
    }

    static inline void pcg_store(uint64_t *w, mb_wide value) {
        w[0] = mb_low(value);
        w[1] = mb_high(value);
    }

    static inline uint64_t pcg_output(mb_wide state) {
        uint64_t folded = mb_high(state) ^ mb_low(state);
        unsigned rotation = (unsigned)(mb_high(state) >> 58);
        return (folded >> rotation) | (folded << ((64 - rotation) & 63));
    }

    static uint64_t pcg_next64(void *stream) {
        uint64_t *words = (uint64_t *)stream;
        mb_wide state = pcg_step(mb_join(words[1], words[0]), words);
        pcg_store(words, state);
        return pcg_output(state);
    }

    static double pcg_next_double(void *stream) {
        return (pcg_next64(stream) >> 11) * (1.0 / 9007199254740992.0);
    }

    /* start = the four 64-bit words of SeedSequence.generate_state. */
    static void pcg_seed(uint64_t *words, const uint64_t *start) {
        mb_wide initial = mb_join(start[0], start[1]);
        /* The increment is 2 * sequence + 1; the first step, from 0, leads to it. */
        mb_wide increment = mb_join((start[2] << 1) | (start[3] >> 63), (start[3] << 1) | 1);
        pcg_store(words + 2, increment);
        pcg_store(words, pcg_step(mb_add(increment, initial), words));
    }

    /* The ziggurat behind standard_normal decides 99 draws in 100 by one word: 8 bits choose a
       layer, one the sign, 52 a magnitude; below the layer's limit, magnitude times scale is the
       draw. */
    static double ziggurat_scale[256];
    static uint64_t ziggurat_limit[256]; /* 0: use NumPy's function for this layer */

    static inline double ziggurat_value(uint64_t word) {
        double value = (double)(int64_t)((word >> 9) & 0xfffffffffffffULL);
        uint64_t bits;
        value *= ziggurat_scale[word & 0xff];
        /* The sign as a bit: a branch would be mispredicted every other time. */
        memcpy(&bits, &value, sizeof bits);
        bits |= (word & 0x100) << 55;
        memcpy(&value, &bits, sizeof bits);
        return value;
    }

    /* 1 and the next normal of the stream; or 0, and the stream is unchanged. Always inlined,
       although there are two callers. */
    MB_ALWAYS_INLINE int ziggurat_next(uint64_t *words, double *normal) {
        mb_wide state = pcg_step(mb_join(words[1], words[0]), words);
        uint64_t word = pcg_output(state);
        if (((word >> 9) & 0xfffffffffffffULL) >= ziggurat_limit[word & 0xff]) return 0;
        pcg_store(words, state);
        *normal = ziggurat_value(word);
        return 1;
    }
    """
    uint64_t pcg_next64(void *stream) noexcept
    double pcg_next_double(void *stream) noexcept
    void pcg_seed(uint64_t *words, const uint64_t *start) noexcept
    double[256] ziggurat_scale
    uint64_t[256] ziggurat_limit
    double ziggurat_value(uint64_t word) noexcept
    int ziggurat_next(uint64_t *words, double *normal) noexcept

cdef extern from "numpy/random/distributions.h":
    double random_standard_normal(bitgen_t *bitgen_state) noexcept


cdef class RewardKernel:
    """Draws the rewards of one run. Subclasses define `draw_into`, or `draw` in Python."""

    def __init__(self, Py_ssize_t size):
        self.size = size

    cdef int draw_into(self, const Py_ssize_t[::1] elements, double[::1] rewards) except -1:
        """The next reward of each of `elements`."""
        # For kernels written in Python, which define `draw`.
        if type(self).draw is RewardKernel.draw:
            raise NotImplementedError
        drawn = np.asarray(rewards)
        drawn[:] = self.draw(np.asarray(elements))
        if not np.isfinite(drawn).all():
            e = np.asarray(elements)[~np.isfinite(drawn)][0]
            raise ValueError(f"the reward of element {e} is not finite")
        return 0

    def draw(self, elements, *, round=None):
        """The next reward of each of `elements`, as an array.

        `round` is for environments whose means change.
        """
        checked = self.checked(elements)
        if round is not None:
            integer(round, "round", minimum=1)
        rewards = np.empty(len(checked))
        self.draw_into(checked, rewards)
        return rewards

    def checked(self, elements):
        """`elements` as an array, checked to be in the ground set."""
        cdef const Py_ssize_t[::1] array = element_array(elements)
        cdef Py_ssize_t i
        for i in range(array.shape[0]):
            if array[i] < 0 or array[i] >= self.size:
                raise not_an_element(array[i], self.size)
        return np.asarray(array)


cdef class Streams(RewardKernel):
    """One PCG64 stream per element; a subclass turns its draws into rewards."""

    def __init__(self, seed, Py_ssize_t size, domain=REWARDS):
        global has_ziggurat
        super().__init__(size)
        cdef Py_ssize_t i, source, target
        if not has_ziggurat:
            learn_ziggurat()
            has_ziggurat = True
        entropy = words_of(domain) + words_of(seed)
        self.hash_constant = 0x43B0D7E5
        for i in range(4):
            self.pool[i] = hash_in(entropy[i], &self.hash_constant)
        for source in range(4):
            for target in range(4):
                if source != target:
                    self.pool[target] = mix(
                        self.pool[target], hash_in(self.pool[source], &self.hash_constant)
                    )
        for word in entropy[4:]:
            hash_word(self.pool, word, &self.hash_constant)
        self.words = np.zeros((size, 4), dtype=np.uint64)
        self.bits.next_uint64 = pcg_next64
        self.bits.next_double = pcg_next_double
        self.bits.next_raw = pcg_next64

    cdef bitgen_t *stream(self, Py_ssize_t element) noexcept:
        if self.words[element, 2] == 0:
            self.seed_stream(element)
        self.bits.state = &self.words[element, 0]
        return &self.bits

    cdef double uniform(self, Py_ssize_t element) noexcept:
        """The next number of ``rng.random()`` of an element."""
        return pcg_next_double(self.stream(element).state)

    cdef double normal(self, Py_ssize_t element) noexcept:
        """The next number of ``rng.standard_normal()`` of an element."""
        cdef bitgen_t *bits = self.stream(element)
        cdef double value
        if not ziggurat_next(<uint64_t *>bits.state, &value):
            value = random_standard_normal(bits)
        return value

    cdef void seed_stream(self, Py_ssize_t element) noexcept:
        """Seed as ``PCG64([domain, seed, element])`` does; elements are below 2**32."""
        cdef uint32_t pool[4]
        cdef uint64_t start[4]
        cdef uint32_t hash_constant = self.hash_constant
        cdef Py_ssize_t i
        for i in range(4):
            pool[i] = self.pool[i]
        hash_word(pool, <uint32_t>element, &hash_constant)
        hash_constant = 0x8B51F9DD
        for i in range(4):
            start[i] = hash_out(pool[(2 * i) % 4], &hash_constant)
            start[i] |= <uint64_t>hash_out(pool[(2 * i + 1) % 4], &hash_constant) << 32
        pcg_seed(&self.words[element, 0], start)


cdef list words_of(number):
    """The words of 32 bits of an integer, the lowest first, as SeedSequence cuts it."""
    words = [number & 0xFFFFFFFF]
    while number := number >> 32:
        words.append(number & 0xFFFFFFFF)
    return words


cdef inline void hash_word(uint32_t *pool, uint32_t word, uint32_t *constant) noexcept:
    """Add a word after the first four to the hash."""
    cdef Py_ssize_t i
    for i in range(4):
        pool[i] = mix(pool[i], hash_in(word, constant))


cdef inline uint32_t hash_in(uint32_t value, uint32_t *constant) noexcept:
    value ^= constant[0]
    constant[0] *= <uint32_t>0x931E8875
    value *= constant[0]
    return value ^ (value >> 16)


cdef inline uint32_t mix(uint32_t a, uint32_t b) noexcept:
    cdef uint32_t result = <uint32_t>0xCA01F9DD * a - <uint32_t>0x4973F715 * b
    return result ^ (result >> 16)


cdef inline uint32_t hash_out(uint32_t value, uint32_t *constant) noexcept:
    value ^= constant[0]
    constant[0] *= <uint32_t>0x58F38DED
    value *= constant[0]
    return value ^ (value >> 16)


# A source of bits that returns one chosen word first, then a stream, and counts the calls.
cdef struct Script:
    uint64_t word
    int calls
    uint64_t words[4]


cdef uint64_t scripted_word(void *state) noexcept:
    cdef Script *script = <Script *>state
    script.calls += 1
    return script.word if script.calls == 1 else pcg_next64(script.words)


cdef double scripted_double(void *state) noexcept:
    (<Script *>state).calls += 1
    return pcg_next_double((<Script *>state).words)


cdef bint takes_one_word(uint64_t word, double *normal) noexcept:
    """Whether NumPy's standard_normal needs no more than `word`; `normal` is its result."""
    cdef Script script
    cdef bitgen_t bits
    cdef uint64_t start[4]
    start[0] = start[1] = start[2] = start[3] = word
    pcg_seed(script.words, start)
    script.word = word
    script.calls = 0
    bits.state = &script
    bits.next_uint64 = scripted_word
    bits.next_raw = scripted_word
    bits.next_double = scripted_double
    normal[0] = random_standard_normal(&bits)
    return script.calls == 1


cdef void learn_ziggurat() noexcept:
    """Find limits and scales by calling NumPy's own function with chosen words.

    A copy of its tables would have to follow its changes. These tables fit the version that the
    package is built against. If a version works in another way, the check at the end finds out, and
    every draw is left to the function itself.
    """
    cdef uint64_t layer, low, high, middle, word
    cdef uint64_t words[4]
    cdef double normal
    cdef Py_ssize_t _i
    for layer in range(256):
        if not takes_one_word((<uint64_t>1 << 9) | layer, &normal):
            continue
        ziggurat_scale[layer] = normal  # of magnitude 1
        low, high = 1, <uint64_t>1 << 52
        while high - low > 1:
            middle = (low + high) // 2
            if takes_one_word((middle << 9) | layer, &normal):
                low = middle
            else:
                high = middle
        ziggurat_limit[layer] = high
    words[0] = words[1] = words[2] = words[3] = 1
    for _i in range(5000):
        word = pcg_next64(words)
        if takes_one_word(word, &normal) != (
            (word >> 9) & 0xFFFFFFFFFFFFF < ziggurat_limit[word & 0xFF]
        ) or (
            (word >> 9) & 0xFFFFFFFFFFFFF < ziggurat_limit[word & 0xFF]
            and normal != ziggurat_value(word)
        ):
            for layer in range(256):
                ziggurat_limit[layer] = 0
            return


cdef bint has_ziggurat = False


cdef class GaussianRewards(Streams):
    """``mean + std * rng.standard_normal()``."""

    cdef const double[::1] means
    cdef const double[::1] stds

    def __init__(self, seed, const double[::1] means, const double[::1] stds):
        super().__init__(seed, means.shape[0])
        self.means = means
        self.stds = stds

    cdef int draw_into(self, const Py_ssize_t[::1] elements, double[::1] rewards) except -1:
        cdef Py_ssize_t n = elements.shape[0]
        cdef Py_ssize_t i, e
        cdef uint64_t *words
        cdef const double *means
        cdef const double *stds
        cdef double normal
        if n == 0:
            return 0
        # Plain pointers: the compiler would load those in `self` again after every store.
        words = &self.words[0, 0]
        means = &self.means[0]
        stds = &self.stds[0]
        for i in range(n):
            e = elements[i]
            if words[4 * e + 2] == 0:
                self.seed_stream(e)
            if not ziggurat_next(words + 4 * e, &normal):
                normal = random_standard_normal(self.stream(e))
            rewards[i] = means[e] + stds[e] * normal
        return 0


cdef class BernoulliRewards(Streams):
    """``1.0 if rng.random() < mean else 0.0``."""

    cdef const double[::1] means

    def __init__(self, seed, const double[::1] means):
        super().__init__(seed, means.shape[0])
        self.means = means

    cdef int draw_into(self, const Py_ssize_t[::1] elements, double[::1] rewards) except -1:
        cdef Py_ssize_t i, e
        for i in range(elements.shape[0]):
            e = elements[i]
            rewards[i] = pcg_next_double(self.stream(e).state) < self.means[e]
        return 0
