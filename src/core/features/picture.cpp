#include "features/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cranfield::features {

namespace {
// The decoding of sRGB to 16 bits, through a table of 1024 places with lines between them.
std::array<Whole, 256> decoded_light() {
    const auto entry = [](int i) {
        const double t = i / 1023.0;
        const double f = t <= 0.04045 ? t / 12.92 : std::pow((t + 0.055) / 1.055, 2.4);
        return std::floor(65535 * f + 0.5);
    };
    std::array<Whole, 256> light{};
    for (int c = 0; c < 256; ++c) {
        const int place = 1023 * c / 255;
        const double rest = (1023 * c % 255) / 255.0;
        const double low = entry(place);
        const double high = place < 1023 ? entry(place + 1) : low;
        light[static_cast<std::size_t>(c)] =
            static_cast<Whole>(std::floor(low + (high - low) * rest + 0.5));
    }
    return light;
}
}  // namespace

Plane linear_grey(const Picture& picture) {
    static const std::array<Whole, 256> light = decoded_light();
    constexpr Whole whole = Whole{65536} * 65535;
    return plane_of(picture, [](Byte r, Byte g, Byte b) {
        const Whole sum = 14574 * light[r] + 46992 * light[g] + 3971 * light[b];
        return std::min<Whole>(255, (2 * 255 * sum + whole) / (2 * whole));
    });
}

CRANFIELD_WIDE Plane plain_grey(const Picture& picture) {
    return plane_of(picture, [](unsigned r, unsigned g, unsigned b) {
        return (77 * r + 150 * g + 29 * b + 128) / 256;
    });
}

CRANFIELD_WIDE Plane video_grey(const Picture& picture) {
    return plane_of(picture,
                    [](int r, int g, int b) { return video_luminance(luminance(r, g, b)); });
}

CRANFIELD_WIDE Plane whole_grey(const Picture& picture) {
    return plane_of(picture, [](unsigned r, unsigned g, unsigned b) {
        return (299 * r + 587 * g + 114 * b) / 1000;
    });
}

CRANFIELD_WIDE void add_rows(const Byte* rows, std::size_t count, std::size_t length,
                             std::uint32_t* sums) {
    for (std::size_t row = 0; row < count; ++row, rows += length)
        for (std::size_t i = 0; i < length; ++i) sums[i] += rows[i];
}

void count_codes(const Byte* codes, std::size_t count, Whole* counts) {
    // Four tables: a count need not wait for the same one just before it.
    std::uint32_t parts[4][256] = {};
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (std::size_t part = 0; part < 4; ++part) ++parts[part][codes[i + part]];
    for (; i < count; ++i) ++parts[0][codes[i]];
    for (std::size_t code = 0; code < 256; ++code)
        for (const auto& part : parts) counts[code] += part[code];
}

void levels_of(const std::vector<Whole>& counts, Whole top, double* out) {
    const Whole largest = *std::max_element(counts.begin(), counts.end());
    if (largest == 0) return;
    for (std::size_t i = 0; i < counts.size(); ++i)
        out[i] = static_cast<double>(top * counts[i] / largest);
}

}  // namespace cranfield::features
