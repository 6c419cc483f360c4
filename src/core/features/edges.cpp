// EHD, the edge histogram of MPEG-7: 4 x 4 sub-images, five kinds of edges in each.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "features/table.hpp"

namespace cranfield::features {

namespace {
constexpr std::size_t kinds = 5;
constexpr std::size_t sub_images = 16;
constexpr double threshold = 11;

constexpr double level_values[kinds][8] = {
    {.010867, .057915, .099526, .144849, .195573, .260504, .358031, .530128},
    {.012266, .069934, .125879, .182307, .243396, .314563, .411728, .564319},
    {.004193, .025852, .046860, .068519, .093286, .123490, .161505, .228960},
    {.004174, .025924, .046232, .067163, .089655, .115391, .151904, .217745},
    {.006778, .051667, .108650, .166257, .224226, .285691, .356375, .450972}};

// The side of the blocks: about 1100 of them, an even number, at least 2.
std::size_t block_side(std::size_t width, std::size_t height) {
    std::size_t side = 0;
    while ((side + 1) * (side + 1) * 1100 <= width * height) ++side;
    return std::max<std::size_t>(2, side - side % 2);
}

// A row of blocks: its upper and lower halves, added up column by column.
using Halves = std::array<std::vector<std::uint32_t>, 2>;

void add_halves(const Plane& grey, std::size_t y, std::size_t half, Halves& halves) {
    for (std::size_t i = 0; i < 2; ++i) {
        halves[i].assign(grey.width, 0);
        add_rows(grey.row(y + i * half), half, grey.width, halves[i].data());
    }
}

Whole sum_over(const std::uint32_t* columns, std::size_t count) {
    return std::accumulate(columns, columns + count, Whole{0});
}

// The kind of edge in a block, or `kinds` where there is none.
std::size_t edge_kind(const Halves& halves, std::size_t x, std::size_t half) {
    const std::uint32_t *upper = halves[0].data() + x, *lower = halves[1].data() + x;
    const Whole a1 = sum_over(upper, half), a2 = sum_over(upper + half, half);
    const Whole a3 = sum_over(lower, half), a4 = sum_over(lower + half, half);
    const double root2 = std::sqrt(2.0);
    const auto size = [](Whole difference) { return static_cast<double>(std::abs(difference)); };
    const double strengths[kinds] = {size(a1 - a2 + a3 - a4), size(a1 + a2 - a3 - a4),
                                     root2 * size(a1 - a4), root2 * size(a2 - a3),
                                     2 * size(a1 - a2 - a3 + a4)};
    const auto* strongest = std::max_element(std::begin(strengths), std::end(strengths));
    const double pixels = static_cast<double>(half * half);
    return *strongest >= threshold * pixels
               ? static_cast<std::size_t>(strongest - std::begin(strengths))
               : kinds;
}

// The number of mid-points between neighbouring values that a share exceeds.
double level_of(double share, const double (&values)[8]) {
    int level = 0;
    for (std::size_t i = 0; i + 1 < 8; ++i) level += share > (values[i] + values[i + 1]) / 2;
    return level;
}

void describe(const Plane& grey, double level_without_blocks, double* out) {
    const std::size_t side = block_side(grey.width, grey.height);
    Whole blocks[sub_images] = {}, edges[sub_images][kinds + 1] = {};
    Halves halves;
    for (std::size_t y = 0; y + side <= grey.height; y += side) {
        add_halves(grey, y, side / 2, halves);
        for (std::size_t x = 0; x + side <= grey.width; x += side) {
            const std::size_t sub = 4 * (4 * y / grey.height) + 4 * x / grey.width;
            ++blocks[sub];
            ++edges[sub][edge_kind(halves, x, side / 2)];
        }
    }
    for (std::size_t sub = 0; sub < sub_images; ++sub)
        for (std::size_t kind = 0; kind < kinds; ++kind) {
            const double share =
                static_cast<double>(edges[sub][kind]) / static_cast<double>(blocks[sub]);
            out[kinds * sub + kind] =
                blocks[sub] ? level_of(share, level_values[kind]) : level_without_blocks;
        }
}

// The picture made larger until its shorter side is `shortest`, with lines between the pixels.
Plane enlarged(const Plane& grey, std::size_t shortest) {
    const std::size_t shorter = std::min(grey.width, grey.height);
    if (shorter >= shortest) return grey;
    const auto grown = [&](std::size_t n) { return (2 * n * shortest + shorter) / (2 * shorter); };
    Plane large{{}, grown(grey.width), grown(grey.height)};
    large.values.resize(large.width * large.height);
    struct Place {
        std::size_t low, high;
        double rest;
    };
    const auto place = [](std::size_t i, std::size_t from, std::size_t to) {
        const double ratio = static_cast<double>(from) / static_cast<double>(to);
        const double at = std::clamp((static_cast<double>(i) + 0.5) * ratio - 0.5, 0.0,
                                     static_cast<double>(from - 1));
        const auto low = static_cast<std::size_t>(at);
        return Place{low, std::min(low + 1, from - 1), at - static_cast<double>(low)};
    };
    for (std::size_t y = 0; y < large.height; ++y) {
        const Place down = place(y, grey.height, large.height);
        for (std::size_t x = 0; x < large.width; ++x) {
            const Place along = place(x, grey.width, large.width);
            const auto between = [&](const Byte* row) {
                return row[along.low] + (row[along.high] - row[along.low]) * along.rest;
            };
            const double upper = between(grey.row(down.low)), lower = between(grey.row(down.high));
            large.values[large.width * y + x] =
                static_cast<Byte>(upper + (lower - upper) * down.rest + 0.5);
        }
    }
    return large;
}
}  // namespace

namespace kernels {
void edge_histogram(const Picture& picture, double* out) { describe(video_grey(picture), 0, out); }

void edge_histogram_lire(const Picture& picture, double* out) {
    describe(video_grey(picture), 7, out);
}

void edge_histogram_xm(const Picture& picture, double* out) {
    const Plane grey = plane_of(picture, [](int r, int g, int b) { return (r + g + b) / 3; });
    describe(enlarged(grey, 70), 0, out);
}
}  // namespace kernels

}  // namespace cranfield::features
