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
    for (std::size_t y = 1; y + 1 < grey.height; ++y) {
        const Byte *above = grey.row(y - 1), *here = grey.row(y), *below = grey.row(y + 1);
        for (std::size_t x = 1; x + 1 < grey.width; ++x) {
            const Byte centre = here[x];
            const int pattern = (above[x - 1] >= centre) | (above[x] >= centre) << 1 |
                                (above[x + 1] >= centre) << 2 | (here[x + 1] >= centre) << 3 |
                                (below[x + 1] >= centre) << 4 | (below[x] >= centre) << 5 |
                                (below[x - 1] >= centre) << 6 | (here[x - 1] >= centre) << 7;
            ++counts[static_cast<std::size_t>(pattern)];
        }
    }
    levels_of(counts, 127, out);
}

}  // namespace cranfield::features::kernels
