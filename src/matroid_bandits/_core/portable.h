/* Words of 128 bits, and hints to the compiler: by what gcc and clang have built in, by what MSVC
   has, or by plain C. All three compute the same. MATROID_BANDITS_PORTABLE chooses plain C. */
#ifndef MATROID_BANDITS_PORTABLE_H
#define MATROID_BANDITS_PORTABLE_H

#include <stdint.h>

#if !defined(MATROID_BANDITS_PORTABLE) && (defined(__GNUC__) || defined(__clang__))
#define MB_GNU 1
#elif !defined(MATROID_BANDITS_PORTABLE) && defined(_MSC_VER)
#define MB_MSVC 1
#include <intrin.h>
#endif

/* ---- hints ---- */

#if defined(MB_GNU)
#define MB_ALWAYS_INLINE static inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define MB_ALWAYS_INLINE static __forceinline
#else
#define MB_ALWAYS_INLINE static inline
#endif

/* Load what is at an address into the cache; only speed depends on it. */
#if defined(MB_GNU)
#define mb_prefetch(address) __builtin_prefetch(address)
#elif defined(MB_MSVC) && defined(_M_X64)
#define mb_prefetch(address) _mm_prefetch((const char *)(address), _MM_HINT_T0)
#else
#define mb_prefetch(address) ((void)(address))
#endif

/* ---- bits and products ---- */

/* The place of the lowest bit that is set; the word is not 0. */
static inline int mb_lowest_bit(uint64_t word) {
#if defined(MB_GNU)
    return __builtin_ctzll(word);
#elif defined(MB_MSVC) && defined(_WIN64)
    unsigned long place;
    _BitScanForward64(&place, word);
    return (int)place;
#else
    int place = 0;
    int step;
    for (step = 32; step > 0; step /= 2) {
        if ((word & (((uint64_t)1 << step) - 1)) == 0) {
            word >>= step;
            place += step;
        }
    }
    return place;
#endif
}

/* The upper 64 bits of the product. */
static inline uint64_t mb_high_word(uint64_t a, uint64_t b) {
#if defined(MB_GNU) && defined(__SIZEOF_INT128__)
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
#elif defined(MB_MSVC) && defined(_WIN64)
    return __umulh(a, b);
#else
    const uint64_t a_low = (uint32_t)a, a_high = a >> 32;
    const uint64_t b_low = (uint32_t)b, b_high = b >> 32;
    const uint64_t crossed = a_high * b_low;
    /* At most (2**32 - 1)**2 + 2 * (2**32 - 1), which is 2**64 - 1. */
    const uint64_t middle = a_low * b_high + (uint32_t)crossed + ((a_low * b_low) >> 32);
    return a_high * b_high + (crossed >> 32) + (middle >> 32);
#endif
}

/* ---- words of 128 bits ---- */

#if defined(MB_GNU) && defined(__SIZEOF_INT128__)

typedef unsigned __int128 mb_wide;

static inline mb_wide mb_join(uint64_t high, uint64_t low) {
    return ((mb_wide)high << 64) | low;
}
static inline uint64_t mb_low(mb_wide a) { return (uint64_t)a; }
static inline uint64_t mb_high(mb_wide a) { return (uint64_t)(a >> 64); }
static inline mb_wide mb_add(mb_wide a, mb_wide b) { return a + b; }
static inline mb_wide mb_multiply(mb_wide a, mb_wide b) { return a * b; }

#else

typedef struct {
    uint64_t low;
    uint64_t high;
} mb_wide;

static inline mb_wide mb_join(uint64_t high, uint64_t low) {
    mb_wide a;
    a.low = low;
    a.high = high;
    return a;
}
static inline uint64_t mb_low(mb_wide a) { return a.low; }
static inline uint64_t mb_high(mb_wide a) { return a.high; }
static inline mb_wide mb_add(mb_wide a, mb_wide b) {
    const uint64_t low = a.low + b.low;
    return mb_join(a.high + b.high + (low < a.low), low);
}
/* Modulo 2**128. */
static inline mb_wide mb_multiply(mb_wide a, mb_wide b) {
    const uint64_t high = mb_high_word(a.low, b.low) + a.low * b.high + a.high * b.low;
    return mb_join(high, a.low * b.low);
}

#endif

#endif
