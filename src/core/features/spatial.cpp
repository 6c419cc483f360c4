// Where things are: fuzzy colours by bands of the picture (SpCD), brightness and directions by
// areas along a Hilbert curve (BTDH).
#include <algorithm>
#include <array>
#include <cstdlib>

#include "features/fuzzy.hpp"
#include "features/table.hpp"

namespace cranfield::features {

namespace {
constexpr std::size_t most_blocks = 40;
constexpr std::size_t bands = 3, colours = 8;
// The first, middle and last band of a side, on a scale from 0 to 1; they add up to 1.
constexpr std::array<std::array<double, 4>, bands> band_sets{
    {{0, 0, .25, .5}, {.25, .5, .5, .75}, {.5, .75, 1, 1}}};
// White, grey, black, red, yellow (with orange), green, blue (with cyan), magenta.
constexpr std::array<std::size_t, 10> eight_of_ten{0, 1, 2, 3, 4, 4, 5, 6, 6, 7};

using Bands = std::array<double, bands>;

Bands bands_at(std::size_t block, std::size_t blocks) {
    const double at = (static_cast<double>(block) + .5) / static_cast<double>(blocks);
    Bands shares{};
    for (std::size_t i = 0; i < bands; ++i) shares[i] = trapezoid(at, band_sets[i]);
    return shares;
}

// The mean colour of the pixels from (left, top) to (right, bottom), cut to whole numbers.
std::array<int, 3> mean_colour(const Picture& picture, std::size_t left, std::size_t right,
                               std::size_t top, std::size_t bottom) {
    std::array<Whole, 3> sums{};
    for (std::size_t y = top; y < bottom; ++y)
        for (const Byte* p = picture.row(y) + 3 * left; p != picture.row(y) + 3 * right; p += 3)
            for (std::size_t c = 0; c < 3; ++c) sums[c] += p[c];
    const Whole count = static_cast<Whole>((right - left) * (bottom - top));
    return {static_cast<int>(sums[0] / count), static_cast<int>(sums[1] / count),
            static_cast<int>(sums[2] / count)};
}

constexpr std::size_t side = 4, areas = side * side;
constexpr std::size_t clusters = 4, turns = 4, numbers = clusters + turns;
// The place of the area in column x and row y on the curve that goes through all of them.
constexpr std::array<std::array<std::size_t, side>, side> on_curve{
    {{0, 1, 14, 15}, {3, 2, 13, 12}, {4, 7, 8, 11}, {5, 6, 9, 10}}};
constexpr int between_clusters = 85;

// Which quarter of the half circle a slope is in: flat, rising, upright, falling.
std::size_t quarter_of(int along, int down) {
    // tan(22.5 degrees) is 0.41421..., so that 408 / 985 is below and no whole slope hits it.
    constexpr Whole near = 408, far = 985;
    const Whole x = std::abs(along), y = std::abs(down);
    if (far * y <= near * x) return 0;
    if (far * x <= near * y) return 2;
    return (along > 0) == (down > 0) ? 1 : 3;
}
}  // namespace

namespace kernels {
void spatial_colours(const Picture& picture, double* out) {
    const std::size_t columns = std::min(most_blocks, picture.width);
    const std::size_t rows = std::min(most_blocks, picture.height);
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        const Bands down = bands_at(row, rows);
        for (std::size_t column = 0; column < columns; ++column) {
            const auto [r, g, b] = mean_colour(
                picture, column * picture.width / columns, (column + 1) * picture.width / columns,
                row * picture.height / rows, (row + 1) * picture.height / rows);
            const Bands along = bands_at(column, columns);
            const Colours10 ten = colours_of(r, g, b).ten;
            for (std::size_t c = 0; c < ten.size(); ++c)
                for (std::size_t i = 0; i < bands; ++i) {
                    double* const place = out + 2 * bands * eight_of_ten[c] + i;
                    place[0] += ten[c] * along[i];
                    place[bands] += ten[c] * down[i];
                }
        }
    }
    for (std::size_t i = 0; i < 2 * bands * colours; ++i) sum += out[i];
    for (std::size_t i = 0; i < 2 * bands * colours && sum > 0; ++i) out[i] /= sum;
}

void brightness_directions(const Picture& picture, double* out) {
    constexpr int threshold = 24;
    const Plane grey = plain_grey(picture);
    Whole steep = 0;
    // Memberships in units of a 1/85, so that all sums are whole.
    std::array<Whole, areas * numbers> counts{};
    for (std::size_t y = 0; y < grey.height; ++y)
        for (std::size_t x = 0; x < grey.width; ++x) {
            const std::size_t area = on_curve[side * y / grey.height][side * x / grey.width];
            Whole* const place = &counts[numbers * area];
            const int value = grey.row(y)[x];
            const auto lower = static_cast<std::size_t>(std::min(value / between_clusters, 2));
            const int above = value - static_cast<int>(lower) * between_clusters;
            place[lower] += between_clusters - above;
            place[lower + 1] += above;
            if (y == 0 || x == 0 || y + 1 == grey.height || x + 1 == grey.width) continue;
            const Byte *a = grey.row(y - 1) + x, *b = grey.row(y) + x, *c = grey.row(y + 1) + x;
            const int along = a[1] + b[1] + c[1] - a[-1] - b[-1] - c[-1];
            const int down = c[-1] + c[0] + c[1] - a[-1] - a[0] - a[1];
            if (std::abs(along) + std::abs(down) < threshold) continue;
            place[clusters + quarter_of(along, down)] += between_clusters;
            ++steep;
        }
    const double all =
        between_clusters * (static_cast<double>(grey.values.size()) + static_cast<double>(steep));
    for (std::size_t i = 0; i < areas * numbers; ++i) out[i] = static_cast<double>(counts[i]) / all;
}
}  // namespace kernels

}  // namespace cranfield::features
