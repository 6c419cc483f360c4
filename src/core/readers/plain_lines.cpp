#include "readers/plain_lines.hpp"

#include <bit>
#include <cmath>

#include "readers/marks.hpp"
#include "readers/numbers.hpp"
#include "wide.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(CRANFIELD_PORTABLE)
#include <immintrin.h>
#endif

namespace cranfield {

namespace {

void look(const char* p, Window& window) {
    std::uint64_t answers[3];
    look_at(p, answers, [](Lane lane, Lane::Mask(&masks)[3]) {
        const Lane::Mask low = lane.up_to(' ');
        const Lane::Mask fine = Lane::either(lane.between('\t', '\r'), lane.equal(' '));
        masks[0] = low;
        masks[1] = lane.equal('\n');
        masks[2] = Lane::either(lane.high(), Lane::without(low, fine));
    });
    window = {answers[0], answers[1], answers[2]};
}

using Look = void (*)(const char*, Window&);

// Goes on to the windows that hold the next line; false near the end: behind them there is room to
// look at any number in them.
template <Look look>
CRANFIELD_INLINE bool find_windows(Place& place) {
    if (place.seen_at == nullptr) {
        if (place.end - place.p < 128 + decimal_bytes) return false;
        place.seen_at = place.p;
        look(place.p, place.seen[0]);
        look(place.p + 64, place.seen[1]);
    }
    while (place.p - place.seen_at >= 64) {
        if (place.end - place.seen_at < 192 + decimal_bytes) return false;
        place.seen_at += 64;
        place.seen[0] = place.seen[1];
        look(place.seen_at + 64, place.seen[1]);
    }
    return true;
}

template <int wanted, Look look>
CRANFIELD_INLINE bool read_line(Place& place, Line& line) {
    if (!find_windows<look>(place)) return false;
    const char* p = place.p;
    const auto shift = static_cast<unsigned>(p - place.seen_at);
    // The bits of the 64 bytes that begin here.
    const auto here = [&](std::uint64_t Window::* bits) {
        return (place.seen[0].*bits >> shift) | ((place.seen[1].*bits << 1) << (63 - shift));
    };
    const std::uint64_t newlines = here(&Window::newlines);
    if (newlines == 0) return false;
    const std::uint64_t blanks = here(&Window::blanks);
    const std::uint64_t line_end = newlines & -newlines;
    const std::uint64_t before = line_end - 1;  // bits of the line itself
    if (((here(&Window::odd) | (blanks & 1)) & before) != 0 || *p == '#') return false;
    // A field begins after a blank and ends before one; the newline ends the last.
    std::uint64_t begins = ~blanks & (blanks << 1) & before;
    std::uint64_t ends = blanks & ~(blanks << 1) & (before | line_end);
    const auto next_field = [&] {
        begins &= begins - 1;
        ends &= ends - 1;
    };
    const auto this_field = [&] {
        const int begin = std::countr_zero(begins);
        return Id(p + begin, static_cast<std::size_t>(std::countr_zero(ends) - begin));
    };
    line.topic = {p, static_cast<std::size_t>(std::countr_zero(ends))};
    ends &= ends - 1;
    next_field();  // the iteration, or Q0
    if (begins == 0) return false;
    line.item = this_field();
    next_field();
    if constexpr (wanted == 6) next_field();  // the rank: scores give the order
    if (begins == 0) return false;
    const Id number = this_field();
    if constexpr (wanted == 6) next_field();
    // The last field, and no other after it.
    if (begins == 0 || (begins & (begins - 1)) != 0) return false;
    line.tag = this_field();
    if (!parse_fraction(number.data(), number.size(), line.value) &&
        !parse_short_decimal(number, place.end, line.value) &&
        !(parse_number(number, line.value) && std::isfinite(line.value) &&
          !is_beyond_double(number, line.value)))
        return false;
    place.p = p + std::countr_zero(line_end) + 1;
    line.number = static_cast<std::uint32_t>(++place.number);
    return true;
}

template <int wanted, Look look>
CRANFIELD_INLINE std::size_t read_lines(Place& given, Line* lines, std::size_t room) {
    Place place = given;  // so that the compiler may keep it in registers
    std::size_t found = 0;
    while (found < room && read_line<wanted, look>(place, lines[found])) ++found;
    given = place;
    return found;
}

using Read = std::size_t (*)(Place&, Line*, std::size_t);

template <int wanted>
std::size_t read_anywhere(Place& place, Line* lines, std::size_t room) {
    return read_lines<wanted, look>(place, lines, room);
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(CRANFIELD_PORTABLE)
// 32 bytes at a time.
__attribute__((target("avx2"))) void look_wide(const char* p, Window& window) {
    const __m256i space = _mm256_set1_epi8(' '), newline = _mm256_set1_epi8('\n');
    const __m256i tab = _mm256_set1_epi8('\t'), four = _mm256_set1_epi8(4);
    std::uint64_t bits[2][3];
    for (int i = 0; i < 2; ++i) {
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32 * i));
        const __m256i low = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, space), space);
        // From a tab to a carriage return there are four steps; a blank is fine, too.
        const __m256i steps = _mm256_sub_epi8(bytes, tab);
        const __m256i fine = _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(steps, four), steps),
                                             _mm256_cmpeq_epi8(bytes, space));
        const __m256i odd = _mm256_or_si256(bytes, _mm256_andnot_si256(fine, low));
        bits[i][0] = static_cast<std::uint32_t>(_mm256_movemask_epi8(low));
        bits[i][1] =
            static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, newline)));
        bits[i][2] = static_cast<std::uint32_t>(_mm256_movemask_epi8(odd));
    }
    window = {bits[0][0] | bits[1][0] << 32, bits[0][1] | bits[1][1] << 32,
              bits[0][2] | bits[1][2] << 32};
}

template <int wanted>
__attribute__((target("avx2,bmi,bmi2"))) std::size_t read_wide(Place& place, Line* lines,
                                                               std::size_t room) {
    return read_lines<wanted, look_wide>(place, lines, room);
}

template <int wanted>
Read best_reader() {
    __builtin_cpu_init();
    const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2");
    return wide ? &read_wide<wanted> : &read_anywhere<wanted>;
}
#else
template <int wanted>
Read best_reader() {
    return &read_anywhere<wanted>;
}
#endif

}  // namespace

std::size_t read_plain_lines(Place& place, int fields, Line* lines, std::size_t room) {
    static const Read read_run = best_reader<6>(), read_judgements = best_reader<4>();
    return (fields == 6 ? read_run : read_judgements)(place, lines, room);
}

}  // namespace cranfield
