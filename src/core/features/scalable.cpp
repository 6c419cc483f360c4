// SCD, the scalable colour of MPEG-7: the Haar transform of a histogram of 256 HSV colours.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "features/table.hpp"

namespace cranfield::features {

namespace {
constexpr std::size_t bins = 256;
constexpr std::size_t hues = 16;
using Histogram = std::array<int, bins>;

constexpr std::array<int, bins> offsets = {
    217, -71, -27, -54, -8, -14, -22, -29, -6, -13, -11, -22, -9, -14, -19, -22, 0,  -1, 0,  -2,
    1,   -5,  0,   0,   2,  -2,  -2,  0,   3,  -5,  -1,  4,   0,  0,   0,   -1,  0,  0,  -1, -2,
    -1,  -1,  -1,  -3,  -1, -2,  -4,  -5,  -1, 0,   -2,  -2,  -2, -3,  -3,  0,   0,  0,  0,  2,
    -1,  0,   3,   3,   0,  0,   0,   0,   0,  0,   0,   -1,  -1, -1,  -2,  -1,  -2, -2, -2, -1,
    0,   0,   0,   -1,  0,  0,   -1,  -1,  -2, -1,  -2,  -1,  -3, -3,  -2,  0,   0,  0,  0,  -1,
    0,   0,   -2,  -2,  -2, -2,  -2,  -1,  -3, -3,  -1,  0,   1,  0,   0,   -1,  0,  0,  -1, 0,
    -1,  -1,  -1,  0,   -1, 0,   1,   -1,  0,  0,   0,   0,   0,  0,   0,   0,   0,  0,  0,  0,
    0,   0,   0,   0,   0,  0,   0,   1,   0,  0,   -1,  1,   0,  0,   0,   0,   0,  0,  -1, 0,
    0,   0,   0,   0,   0,  0,   0,   0,   0,  0,   0,   1,   0,  0,   0,   1,   0,  0,  0,  1,
    0,   0,   -1,  2,   0,  0,   0,   0,   0,  0,   -1,  1,   0,  0,   0,   0,   0,  0,  0,  0,
    0,   0,   0,   1,   0,  0,   -1,  1,   0,  0,   -1,  1,   0,  -1,  -1,  2,   0,  0,  0,  0,
    0,   -1,  0,   1,   1,  0,   -1,  0,   0,  0,   0,   1,   0,  0,   -1,  0,   0,  0,  0,  1,
    0,   0,   0,   0,   0,  -1,  0,   1,   0,  0,   0,   0,   0,  -1,  0,   -1};

constexpr const char* bits =
    "9989777867677777453656575657566733353355545555555355555555555565"
    "2234223444555555323423455455555533343355545555554344344443445555"
    "2233223322342233323423443334334432332233323423443235335533343345"
    "3233234432343355323534553334334432333334323433443234334433333334";

// All bits where a condition holds: a choice without a branch, so that many are made at a time.
CRANFIELD_ALONG int mask(bool holds) { return -static_cast<int>(holds); }

// One of 256 colours.
CRANFIELD_ALONG int colour_of(int r, int g, int b) {
    const int high = std::max(std::max(r, g), b);
    const int spread = high - std::min(std::min(r, g), b);
    // Sixths of the circle times the spread. Grey of equal G and B below R ends at 6, not at 0.
    const int red = mask(high == r), green = mask(high == g) & ~red, blue = ~(red | green);
    const int sixths = (red & ((g - b) + (mask(g <= b) & (6 * spread)))) |
                       (green & (2 * spread + (b - r))) | (blue & (4 * spread + (r - g)));
    // A sixteenth of int(255 sixths / 6 spread), 0 for greys. Floats divide whole numbers of 24
    // bits without an error that could reach the next whole number.
    const float parts = static_cast<float>(96 * std::max(spread, 1));
    const int hue = static_cast<int>(static_cast<float>(255 * sixths) / parts);
    // Quarters of 255 spread / high, 0 for black.
    const int wide = 255 * spread;
    const int saturation = (wide >= 64 * high) + (wide >= 128 * high) + (wide >= 192 * high);
    return hue + 16 * (saturation & mask(high > 0)) + 64 * (high / 64);
}

CRANFIELD_WIDE Plane colours_of(const Picture& picture) {
    return plane_of(picture, [](int r, int g, int b) { return colour_of(r, g, b); });
}

std::array<Whole, bins> counts_of(const Picture& picture) {
    std::array<Whole, bins> counts{};
    const Plane colours = colours_of(picture);
    count_codes(colours.values.data(), colours.values.size(), counts.data());
    return counts;
}

// Shares on a scale that gives small ones room, 0..15.
Histogram levels_of(const std::array<Whole, bins>& counts, Whole pixels) {
    Histogram levels{};
    for (std::size_t i = 0; i < bins; ++i) {
        const Whole share = (204700000 * counts[i] + 49999 * pixels) / (100000 * pixels);
        const double part = static_cast<double>(share) / 818.8;
        levels[i] = part > 1 ? 15 : static_cast<int>(15 * std::pow(part, 0.4) + 0.5);
    }
    return levels;
}

// One step on two places: their sum into the first, second minus first into the second.
void step(Histogram& values, std::size_t row, std::size_t hue, std::size_t other_row,
          std::size_t other_hue) {
    int& first = values[hues * row + hue];
    int& second = values[hues * other_row + other_hue];
    const int sum = first + second;
    second -= first;
    first = sum;
}

using Places = std::initializer_list<std::size_t>;

void steps(Histogram& values, Places rows, Places columns, std::size_t down, std::size_t along) {
    for (const std::size_t row : rows)
        for (const std::size_t hue : columns) step(values, row, hue, row + down, hue + along);
}

const Places all_rows = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
const Places even = {0, 2, 4, 6, 8, 10, 12, 14};
const Places odd = {1, 3, 5, 7, 9, 11, 13, 15};

void haar(Histogram& values) {
    steps(values, all_rows, even, 0, 1);
    steps(values, even, even, 1, 0);
    steps(values, {0, 2, 8, 10}, even, 4, 0);
    steps(values, {0, 2, 8, 10}, {0, 4, 8, 12}, 0, 2);
    steps(values, {0, 8}, {0, 4, 8, 12}, 2, 0);
    steps(values, {0}, {0, 4, 8, 12}, 8, 0);
    steps(values, {0}, {0, 8}, 0, 4);
    steps(values, {0}, {0}, 0, 8);
}

void describe(const Picture& picture, std::size_t bins_used, double* out) {
    Histogram values = levels_of(counts_of(picture), static_cast<Whole>(picture.size()));
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(bins_used), values.end(), 0);
    haar(values);
    std::size_t next = 0;
    const auto take = [&](Places rows, Places columns) {
        for (const std::size_t row : rows)
            for (const std::size_t hue : columns) {
                const int limit = (1 << (bits[next] - '1')) - 1;
                const int value = values[hues * row + hue] - offsets[next];
                out[next++] = std::clamp(value, -limit, limit);
            }
    };
    take({0, 2, 8, 10}, {0, 4, 8, 12});
    take({0, 2, 8, 10}, {2, 6, 10, 14});
    take({4, 6, 12, 14}, even);
    take(odd, even);
    take(all_rows, odd);
}
}  // namespace

namespace kernels {
void scalable_colour(const Picture& picture, double* out) { describe(picture, bins, out); }

void scalable_colour_lire(const Picture& picture, double* out) { describe(picture, 64, out); }

void hsv_histogram(const Picture& picture, double* out) {
    const auto counts = counts_of(picture);
    const double pixels = static_cast<double>(picture.size());
    for (std::size_t i = 0; i < bins; ++i) out[i] = static_cast<double>(counts[i]) / pixels;
}
}  // namespace kernels

}  // namespace cranfield::features
