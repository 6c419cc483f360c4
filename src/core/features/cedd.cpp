// CEDD (6 regions of texture x 24 colours) and C.CEDD (6 x 10).
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "features/fuzzy.hpp"
#include "features/table.hpp"

namespace cranfield::features {

namespace {
constexpr std::size_t regions = 6;

constexpr Levels level_values[] = {
    {180.19686541079636, 23730.024499150866, 61457.152912541605, 113918.55437576842,
     179122.46400035513, 260980.3325940354, 341795.93301552488, 554729.98648386425},
    {209.25176965926232, 22490.5872862417345, 60250.8935141849988, 120705.788057580583,
     181128.08709063051, 234132.081356900555, 325660.617733105708, 520702.175858657472},
    {405.4642173212585, 4877.9763319071481, 10882.170090625908, 18167.239081219657,
     27043.385568785292, 38129.413201299016, 52675.221316293857, 79555.402607004813},
    {968.88475977695578, 10725.159033657819, 24161.205360376698, 41555.917344385321,
     62895.628446402261, 93066.271379694881, 136976.13317822068, 262897.86056221306}};
constexpr int row_of_region[regions] = {0, 1, 2, 2, 3, 3};

struct Blocks {
    std::size_t columns, rows, width, height;
};

std::size_t even_below(std::size_t n) { return n - n % 2; }

Blocks blocks_of(const Picture& picture) {
    const std::size_t shorter = std::min(picture.width, picture.height);
    if (shorter < 40) return {picture.width / 2, picture.height / 2, 2, 2};
    const std::size_t n = shorter >= 80 ? 40 : 20;
    return {n, n, even_below(picture.width / n), even_below(picture.height / n)};
}

struct Sums {
    Whole r = 0, g = 0, b = 0;
};

// Sums of R, G and B over some columns of rows that were added up.
Sums sums_over(const std::uint32_t* columns, std::size_t count) {
    Sums sums;
    for (const std::uint32_t* end = columns + 3 * count; columns != end; columns += 3)
        sums = {sums.r + columns[0], sums.g + columns[1], sums.b + columns[2]};
    return sums;
}

// Which regions a block votes for: several may fire, or none.
std::size_t fired_regions(const double (&quadrant)[4], std::size_t (&fired)[regions]) {
    const auto [a1, a2, a3, a4] = quadrant;
    const double root2 = std::sqrt(2.0);
    const double filters[] = {std::abs(2 * a1 - 2 * a2 - 2 * a3 + 2 * a4),
                              std::abs(a1 + a2 - a3 - a4), std::abs(a1 - a2 + a3 - a4),
                              root2 * std::abs(a1 - a4), root2 * std::abs(a2 - a3)};
    const double largest = *std::max_element(std::begin(filters), std::end(filters));
    std::size_t count = 0;
    if (largest < 14) {
        fired[count++] = 0;
        return count;
    }
    for (std::size_t f = 0; f < 5; ++f)
        if (filters[f] / largest > (f == 0 ? 0.68 : 0.98)) fired[count++] = f + 1;
    return count;
}

// The upper and the lower halves of a row of blocks, added up column by column.
using Halves = std::array<std::vector<std::uint32_t>, 2>;

void add_halves(const Picture& picture, std::size_t y, std::size_t height, Halves& halves) {
    for (std::size_t half = 0; half < 2; ++half) {
        halves[half].assign(3 * picture.width, 0);
        add_rows(picture.row(y + half * height), height, 3 * picture.width, halves[half].data());
    }
}

// Both forms in one go, where both are wanted.
void describe(const Picture& picture, double* full, double* compact) {
    const Blocks blocks = blocks_of(picture);
    const std::size_t half_width = blocks.width / 2, half_height = blocks.height / 2;
    const Whole in_quadrant = static_cast<Whole>(half_width * half_height);
    double bins[regions * 24] = {}, compact_bins[regions * 10] = {};
    std::size_t fired[regions] = {};
    Halves halves;
    for (std::size_t row = 0; row < blocks.rows; ++row) {
        add_halves(picture, row * blocks.height, half_height, halves);
        for (std::size_t column = 0; column < blocks.columns; ++column) {
            const std::size_t x = column * blocks.width;
            Sums all;
            double quadrant[4];
            for (std::size_t q = 0; q < 4; ++q) {
                const Sums part =
                    sums_over(halves[q / 2].data() + 3 * (x + (q % 2) * half_width), half_width);
                const Whole light = 299 * part.r + 587 * part.g + 114 * part.b;
                quadrant[q] = static_cast<double>(light / (1000 * in_quadrant));
                all = {all.r + part.r, all.g + part.g, all.b + part.b};
            }
            const std::size_t count = fired_regions(quadrant, fired);
            if (count == 0) continue;
            const auto mean = [&](Whole sum) { return static_cast<int>(sum / (4 * in_quadrant)); };
            const Colours colours = colours_of(mean(all.r), mean(all.g), mean(all.b));
            for (std::size_t f = 0; f < count; ++f) {
                for (std::size_t c = 0; c < 24; ++c) bins[fired[f] * 24 + c] += colours.all[c];
                for (std::size_t c = 0; c < 10; ++c)
                    compact_bins[fired[f] * 10 + c] += colours.ten[c];
            }
        }
    }
    if (full) quantise(bins, regions, 24, level_values, row_of_region, full);
    if (compact) quantise(compact_bins, regions, 10, level_values, row_of_region, compact);
}
}  // namespace

namespace kernels {
void cedd(const Picture& picture, double* out) { describe(picture, out, nullptr); }

void compact_cedd(const Picture& picture, double* out) { describe(picture, nullptr, out); }

void both_cedd(const Picture& picture, double* full, double* compact) {
    describe(picture, full, compact);
}
}  // namespace kernels

}  // namespace cranfield::features
