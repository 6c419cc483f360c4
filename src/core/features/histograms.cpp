// Histograms of RGB colours, of opponent colours and of local binary patterns.
#include <algorithm>

#include "features/table.hpp"

namespace cranfield::features::kernels {

void rgb_histogram(const Picture& picture, double* out) {
    std::vector<Whole> counts(64);
    const auto quarter = [](Byte x) { return static_cast<std::size_t>((2 * x + 85) / 170); };
    const Byte* const end = picture.pixels + 3 * picture.size();
    for (const Byte* pixel = picture.pixels; pixel != end; pixel += 3)
        ++counts[16 * quarter(pixel[0]) + 4 * quarter(pixel[1]) + quarter(pixel[2])];
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
    const Plane grey = plane_of(picture, plain_grey);
    std::vector<Whole> counts(256);
    std::vector<Byte> patterns(grey.width);
    const auto bit = [](Byte neighbour, Byte centre, Byte value) {
        return static_cast<Byte>(neighbour >= centre ? value : 0);
    };
    for (std::size_t y = 1; y + 1 < grey.height; ++y) {
        const Byte *above = grey.row(y - 1), *here = grey.row(y), *below = grey.row(y + 1);
        // The patterns of a row first, which are computed many at a time, then their counts.
        for (std::size_t x = 1; x + 1 < grey.width; ++x) {
            const Byte c = here[x];
            patterns[x] = static_cast<Byte>(bit(above[x - 1], c, 1) | bit(above[x], c, 2) |
                                            bit(above[x + 1], c, 4) | bit(here[x + 1], c, 8) |
                                            bit(below[x + 1], c, 16) | bit(below[x], c, 32) |
                                            bit(below[x - 1], c, 64) | bit(here[x - 1], c, 128));
        }
        for (std::size_t x = 1; x + 1 < grey.width; ++x) ++counts[patterns[x]];
    }
    levels_of(counts, 127, out);
}

}  // namespace cranfield::features::kernels
