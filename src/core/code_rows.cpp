#include "code_rows.hpp"

#include <algorithm>
#include <compare>
#include <stdexcept>
#include <vector>

namespace cranfield {

namespace {

// One more than the largest code.
std::uint64_t size_of(const std::int32_t* codes, std::size_t rows) {
    const auto [least, most] = std::minmax_element(codes, codes + rows);
    if (*least < 0) throw std::invalid_argument("a code is negative");
    return static_cast<std::uint64_t>(*most) + 1;
}

// A bit for every row that there could be.
bool differ_by_bits(const CodeRows& codes, std::uint64_t second, std::uint64_t third,
                    std::uint64_t span) {
    std::vector<std::uint64_t> seen(span / 64 + 1);
    for (std::size_t i = 0; i < codes.rows; ++i) {
        const std::uint64_t key = (static_cast<std::uint64_t>(codes.first[i]) * second +
                                   static_cast<std::uint64_t>(codes.second[i])) *
                                      third +
                                  static_cast<std::uint64_t>(codes.third[i]);
        const std::uint64_t bit = std::uint64_t{1} << (key % 64);
        if (seen[key / 64] & bit) return false;
        seen[key / 64] |= bit;
    }
    return true;
}

// The same by sorting, where most rows that there could be are not there.
bool differ_by_order(const CodeRows& codes) {
    struct Row {
        std::int32_t first, second, third;
        auto operator<=>(const Row&) const = default;
    };
    std::vector<Row> rows(codes.rows);
    for (std::size_t i = 0; i < codes.rows; ++i)
        rows[i] = {codes.first[i], codes.second[i], codes.third[i]};
    std::sort(rows.begin(), rows.end());
    return std::adjacent_find(rows.begin(), rows.end()) == rows.end();
}

}  // namespace

bool rows_differ(const CodeRows& codes) {
    if (codes.rows == 0) return true;
    const std::uint64_t first = size_of(codes.first, codes.rows);
    const std::uint64_t second = size_of(codes.second, codes.rows);
    const std::uint64_t third = size_of(codes.third, codes.rows);
    // As much memory as sorting takes.
    const std::uint64_t most_bits = 96 * static_cast<std::uint64_t>(codes.rows);
    const bool narrow = first <= most_bits / second && first * second <= most_bits / third;
    return narrow ? differ_by_bits(codes, second, third, first * second * third)
                  : differ_by_order(codes);
}

}  // namespace cranfield
