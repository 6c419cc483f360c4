// Histograms of RGB colours, of opponent colours and of local binary patterns.
#include <algorithm>

#include "features/table.hpp"

namespace cranfield::features::kernels {

namespace {
CRANFIELD_WIDE Plane rgb_codes(const Picture& picture) {
    const auto quarter = [](unsigned x) { return (2 * x + 85) / 170; };
    return plane_of(picture, [&](unsigned r, unsigned g, unsigned b) {
        return 16 * quarter(r) + 4 * quarter(g) + quarter(b);
    });
}

// The patterns of the inner pixels of a row, which has rows above and below it.
CRANFIELD_WIDE void patterns_of(const Byte* here, std::size_t width, Byte* patterns) {
    const Byte *above = here - width, *below = here + width;
    const auto bit = [](Byte neighbour, Byte centre, Byte value) {
        return static_cast<Byte>(neighbour >= centre ? value : 0);
    };
    for (std::size_t x = 1; x + 1 < width; ++x) {
        const Byte c = here[x];
        patterns[x] = static_cast<Byte>(bit(above[x - 1], c, 1) | bit(above[x], c, 2) |
                                        bit(above[x + 1], c, 4) | bit(here[x + 1], c, 8) |
                                        bit(below[x + 1], c, 16) | bit(below[x], c, 32) |
                                        bit(below[x - 1], c, 64) | bit(here[x - 1], c, 128));
    }
}
}  // namespace

void rgb_histogram(const Picture& picture, double* out) {
    const Plane codes = rgb_codes(picture);
    std::vector<Whole> counts(256);
    count_codes(codes.values.data(), codes.values.size(), counts.data());
    counts.resize(64);
    levels_of(counts, 255, out);
}

void opponent_histogram(const Picture& picture, double* out) {
    std::vector<Whole> counts(64);
    for (std::size_t y = 1; y + 1 < picture.height; ++y) {
        const Byte* pixel = picture.row(y) + 3;
        for (std::size_t x = 1; x + 1 < picture.width; ++x, pixel += 3) {
            const int r = pixel[0], g = pixel[1], b = pixel[2];
            const int red_green = std::min(3, 4 * (r - g + 255) / 510);
            const int yellow_blue = std::min(3, 4 * (r + g - 2 * b + 510) / 1020);
            const int light = std::min(3, 4 * (r + g + b) / 765);
            ++counts[static_cast<std::size_t>(red_green + 4 * yellow_blue + 16 * light)];
        }
    }
    levels_of(counts, 127, out);
}

void local_binary_patterns(const Picture& picture, double* out) {
    const Plane grey = plain_grey(picture);
    std::vector<Whole> counts(256);
    std::vector<Byte> patterns(grey.width);
    for (std::size_t y = 1; y + 1 < grey.height; ++y) {
        // The patterns of a row first, which are computed many at a time, then their counts.
        patterns_of(grey.row(y), grey.width, patterns.data());
        if (grey.width > 2) count_codes(patterns.data() + 1, grey.width - 2, counts.data());
    }
    levels_of(counts, 127, out);
}

}  // namespace cranfield::features::kernels
