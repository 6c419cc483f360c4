// CLD, the colour layout of MPEG-7: the cosine transform of an icon of 8 x 8, 64 numbers a channel.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "features/table.hpp"

namespace cranfield::features {

namespace {
constexpr std::size_t side = 8;
constexpr std::size_t cells = side * side;
constexpr std::size_t channels = 3;
using Icon = std::array<int, cells>;

constexpr std::array<std::size_t, cells> zigzag = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// The differences of blue and red to the luminance, on the scale of studio video.
CRANFIELD_WIDE Plane blue_difference(const Picture& picture) {
    return plane_of(picture, [](int r, int g, int b) {
        return static_cast<int>(224 * .564 * (b / 256.0 - luminance(r, g, b)) + 128.5);
    });
}

CRANFIELD_WIDE Plane red_difference(const Picture& picture) {
    return plane_of(picture, [](int r, int g, int b) {
        return static_cast<int>(224 * .713 * (r / 256.0 - luminance(r, g, b)) + 128.5);
    });
}

// Where the cells of a side begin; the last number is the side.
std::array<std::size_t, side + 1> cell_begins(std::size_t length) {
    std::array<std::size_t, side + 1> begins{};
    for (std::size_t c = 0; c <= side; ++c) begins[c] = (c * length + side - 1) / side;
    return begins;
}

// Means of 8 x 8 cells. A side under 8 pixels leaves cells empty; `repeat` fills them by taking
// each pixel 8 times.
Icon icon_of(const Plane& plane, bool repeat) {
    const std::size_t times_x = repeat && plane.width < side ? side : 1;
    const std::size_t times_y = repeat && plane.height < side ? side : 1;
    const auto columns = cell_begins(plane.width * times_x);
    const auto rows = cell_begins(plane.height * times_y);
    std::vector<std::uint32_t> strip;
    Icon icon{};
    for (std::size_t j = 0; j < side; ++j) {
        strip.assign(plane.width, 0);
        for (std::size_t y = rows[j]; y < rows[j + 1]; ++y)
            add_rows(plane.row(y / times_y), 1, plane.width, strip.data());
        for (std::size_t i = 0; i < side; ++i) {
            Whole sum = 0;
            for (std::size_t x = columns[i]; x < columns[i + 1]; ++x)
                sum += strip[times_x == 1 ? x : x / times_x];
            const std::size_t count = (rows[j + 1] - rows[j]) * (columns[i + 1] - columns[i]);
            if (count > 0) icon[side * j + i] = static_cast<int>(sum / static_cast<Whole>(count));
        }
    }
    return icon;
}

std::array<Icon, channels> icons_of(const Picture& picture, bool repeat) {
    return {icon_of(video_grey(picture), repeat), icon_of(blue_difference(picture), repeat),
            icon_of(red_difference(picture), repeat)};
}

// The orthonormal transform, to the nearest whole number.
Icon transformed(const Icon& icon) {
    static const auto basis = [] {
        std::array<std::array<double, side>, side> rows{};
        for (std::size_t u = 0; u < side; ++u)
            for (std::size_t k = 0; k < side; ++k)
                rows[u][k] =
                    u == 0
                        ? std::sqrt(1.0 / 8)
                        : std::cos(static_cast<double>((2 * k + 1) * u) * std::numbers::pi / 16) /
                              2;
        return rows;
    }();
    std::array<double, cells> along{};
    for (std::size_t y = 0; y < side; ++y)
        for (std::size_t u = 0; u < side; ++u)
            for (std::size_t x = 0; x < side; ++x)
                along[side * y + u] += icon[side * y + x] * basis[u][x];
    Icon result{};
    for (std::size_t v = 0; v < side; ++v)
        for (std::size_t u = 0; u < side; ++u) {
            double sum = 0;
            for (std::size_t y = 0; y < side; ++y) sum += along[side * y + u] * basis[v][y];
            result[side * v + u] = static_cast<int>(std::floor(sum + 0.499999));
        }
    return result;
}

int luminance_mean(int dc) {
    const int v = dc >> 3;
    if (v <= 64) return (v >> 2) >> 1;
    if (v <= 96) return (16 + ((v - 64) >> 1)) >> 1;
    if (v <= 160) return (32 + v - 96) >> 1;
    if (v <= 192) return (96 + ((v - 160) >> 1)) >> 1;
    return (112 + ((v - 192) >> 2)) >> 1;
}

int colour_mean(int dc) {
    const int v = dc >> 3;
    if (v <= 64) return 0;
    if (v <= 96) return (v - 64) >> 2;
    if (v <= 112) return 8 + ((v - 96) >> 1);
    if (v <= 144) return 16 + v - 112;
    if (v <= 160) return 48 + ((v - 144) >> 1);
    if (v <= 191) return 56 + ((v - 160) >> 2);
    return 63;
}

// How the standard and how the common program bring a frequency to 5 bits.
struct Rounding {
    bool halve_downwards;
    int highest;
    int offset;
};

int frequency(int ac, bool luminance, const Rounding& rounding) {
    if (luminance) ac = rounding.halve_downwards ? ac >> 1 : ac / 2;
    ac = std::clamp(ac, -256, rounding.highest);
    const int size = std::abs(ac);
    const int kept = size <= 63 ? size : size <= 127 ? 32 + (size >> 1) : 64 + (size >> 2);
    return ((ac < 0 ? -kept : kept) + rounding.offset) >> 3;
}

void describe(const Picture& picture, bool repeat, const Rounding& rounding, double* out) {
    const auto icons = icons_of(picture, repeat);
    for (std::size_t channel = 0; channel < channels; ++channel) {
        const Icon waves = transformed(icons[channel]);
        double* target = out + cells * channel;
        target[0] = channel == 0 ? luminance_mean(waves[0]) : colour_mean(waves[0]);
        for (std::size_t i = 1; i < cells; ++i)
            target[i] = frequency(waves[zigzag[i]], channel == 0, rounding);
    }
}
}  // namespace

namespace kernels {
void colour_layout(const Picture& picture, double* out) {
    describe(picture, true, {false, 239, 132}, out);
}

void colour_layout_lire(const Picture& picture, double* out) {
    describe(picture, false, {true, 255, 128}, out);
}
}  // namespace kernels

}  // namespace cranfield::features
