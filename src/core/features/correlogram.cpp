// The auto colour correlogram: how often a pixel at a distance k has the colour of the pixel
// itself.
#include <algorithm>
#include <array>
#include <cmath>

#include "features/table.hpp"

namespace cranfield::features {

namespace {
constexpr std::size_t colours = 64;
constexpr std::size_t distances = 4;
constexpr Byte no_colour = 255;

struct Pairs {
    std::array<Whole, colours> pixels{};
    // Ordered pairs of equal colour, by colour and distance.
    std::array<std::array<Whole, distances>, colours> equal{};
};

// Adds up in `found` which pixels of a row equal those of another row moved by `shift`.
void count_equal(const Byte* row, const Byte* other, std::size_t width, Byte* found) {
    for (std::size_t x = 0; x < width; ++x) found[x] += row[x] == other[x];
}

// The pairs at chessboard distance k are counted from their upper or left pixel and doubled; a
// frame without colour stands for what is outside of the picture.
Pairs pairs_of(const Plane& plane, const std::array<std::size_t, distances>& ks) {
    const std::size_t frame = ks.back();
    const std::size_t stride = plane.width + 2 * frame;
    std::vector<Byte> framed(stride * (plane.height + frame), no_colour);
    for (std::size_t y = 0; y < plane.height; ++y)
        std::copy_n(plane.row(y), plane.width, &framed[stride * y + frame]);
    Pairs pairs;
    for (const Byte colour : plane.values) ++pairs.pixels[colour];
    std::vector<Byte> found(plane.width);
    for (std::size_t i = 0; i < distances; ++i) {
        const std::size_t k = ks[i];
        for (std::size_t y = 0; y < plane.height; ++y) {
            const Byte* row = &framed[stride * y + frame];
            std::fill(found.begin(), found.end(), Byte{0});
            count_equal(row, row + k, plane.width, found.data());
            for (std::size_t down = 1; down < k; ++down) {
                const Byte* other = row + stride * down;
                count_equal(row, other - k, plane.width, found.data());
                count_equal(row, other + k, plane.width, found.data());
            }
            const Byte* lowest = row + stride * k;
            for (std::size_t along = 0; along <= 2 * k; ++along)
                count_equal(row, lowest + along - k, plane.width, found.data());
            for (std::size_t x = 0; x < plane.width; ++x) pairs.equal[row[x]][i] += 2 * found[x];
        }
    }
    return pairs;
}

// Eight hues, four saturations, two values.
int hsv_colour(int r, int g, int b) {
    const int high = std::max({r, g, b});
    const int spread = high - std::min({r, g, b});
    int hue = 0;
    if (spread > 0) {
        if (high == r)
            hue = floor_div(60 * (g - b), spread) + (g < b ? 360 : 0);
        else if (high == g)
            hue = floor_div(60 * (2 * spread + b - r), spread);
        else
            hue = floor_div(60 * (4 * spread + r - g), spread);
    }
    const int saturation = high == 0 ? 0 : 255 * spread / high;
    return 8 * (hue / 45) + 2 * (saturation / 64) + high / 128;
}
}  // namespace

namespace kernels {
void correlogram(const Picture& picture, double* out) {
    constexpr std::array<std::size_t, distances> ks = {1, 3, 5, 7};
    const Plane plane = plane_of(
        picture, [](int r, int g, int b) { return 16 * (r / 64) + 4 * (g / 64) + b / 64; });
    const Pairs pairs = pairs_of(plane, ks);
    for (std::size_t c = 0; c < colours; ++c)
        for (std::size_t i = 0; i < distances && pairs.pixels[c]; ++i)
            out[distances * c + i] = static_cast<double>(pairs.equal[c][i]) /
                                     static_cast<double>(pairs.pixels[c] * Whole(8 * ks[i]));
}

void correlogram_lire(const Picture& picture, double* out) {
    constexpr std::array<std::size_t, distances> ks = {1, 2, 3, 4};
    const Pairs pairs = pairs_of(plane_of(picture, hsv_colour), ks);
    for (std::size_t c = 0; c < colours; ++c)
        for (std::size_t i = 0; i < distances && pairs.pixels[c]; ++i)
            out[distances * c + i] =
                static_cast<double>(2 * pairs.equal[c][i] / (Whole(ks[i]) * pairs.pixels[c]));
}
}  // namespace kernels

}  // namespace cranfield::features
