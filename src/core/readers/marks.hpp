// What stands in 64 bytes of text, one bit per byte: with SSE2, or eight bytes at a time elsewhere.
#pragma once

#include <cstdint>

#include "readers/numbers.hpp"

// Every x86-64 has SSE2; Microsoft's compiler does not say so.
#if (defined(__SSE2__) || defined(_M_X64)) && !defined(CRANFIELD_PORTABLE)
#define CRANFIELD_SSE2
#include <emmintrin.h>
#endif

namespace cranfield {

#if defined(CRANFIELD_SSE2)

// Sixteen bytes; every question is answered by a mask of them.
struct Lane {
    static constexpr int size = 16;
    using Mask = __m128i;
    __m128i bytes;

    explicit Lane(const char* p) : bytes(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))) {}
    Mask equal(char c) const { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
    // Bytes up to `c`.
    Mask up_to(unsigned char c) const {
        const __m128i limit = _mm_set1_epi8(static_cast<char>(c));
        return _mm_cmpeq_epi8(_mm_max_epu8(bytes, limit), limit);
    }
    // Bytes from `c` to `d`.
    Mask between(unsigned char c, unsigned char d) const {
        const __m128i steps = _mm_sub_epi8(bytes, _mm_set1_epi8(static_cast<char>(c)));
        const __m128i most = _mm_set1_epi8(static_cast<char>(d - c));
        return _mm_cmpeq_epi8(_mm_min_epu8(steps, most), steps);
    }
    // Bytes beyond ASCII.
    Mask high() const { return bytes; }
    static Mask either(Mask a, Mask b) { return _mm_or_si128(a, b); }
    static Mask without(Mask a, Mask b) { return _mm_andnot_si128(b, a); }
    static std::uint64_t bits(Mask mask) {
        return static_cast<std::uint32_t>(_mm_movemask_epi8(mask));
    }
};

#else

// Eight bytes; a mask has the high bit of each that is meant.
struct Lane {
    static constexpr int size = 8;
    using Mask = std::uint64_t;
    std::uint64_t bytes;

    explicit Lane(const char* p) : bytes(detail::load64(p)) {}
    Mask equal(char c) const {
        const std::uint64_t other = bytes ^ detail::each_byte(static_cast<unsigned char>(c));
        return ~(((other & low_bits) + low_bits) | other) & high_bits;
    }
    Mask up_to(unsigned char c) const {
        return ~(((bytes & low_bits) + detail::each_byte(0x7Fu - c)) | bytes) & high_bits;
    }
    Mask between(unsigned char c, unsigned char d) const {
        return up_to(d) & ~up_to(static_cast<unsigned char>(c - 1));
    }
    Mask high() const { return bytes & high_bits; }
    static Mask either(Mask a, Mask b) { return a | b; }
    static Mask without(Mask a, Mask b) { return a & ~b; }
    static std::uint64_t bits(Mask mask) { return (mask >> 7) * 0x0102040810204080ull >> 56; }

  private:
    static constexpr std::uint64_t low_bits = detail::each_byte(0x7F);
    static constexpr std::uint64_t high_bits = detail::each_byte(0x80);
};

#endif

// One bit for each of 64 bytes, for some questions at once: `ask(lane)` answers with masks.
template <int questions, class Ask>
inline void look_at(const char* p, std::uint64_t (&answers)[questions], const Ask& ask) {
    for (std::uint64_t& answer : answers) answer = 0;
    for (int i = 0; i < 64; i += Lane::size) {
        Lane::Mask masks[questions];
        ask(Lane(p + i), masks);
        for (int q = 0; q < questions; ++q) answers[q] |= Lane::bits(masks[q]) << i;
    }
}

}  // namespace cranfield
