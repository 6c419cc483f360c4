// A picture as the descriptors see it: rows of R, G, B, each 0..255.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cranfield::features {

using Byte = std::uint8_t;
using Whole = std::int64_t;

struct Picture {
    const Byte* pixels;
    std::size_t width;
    std::size_t height;

    const Byte* row(std::size_t y) const { return pixels + 3 * width * y; }
    std::size_t size() const { return width * height; }
};

// One number per pixel.
struct Plane {
    std::vector<Byte> values;
    std::size_t width;
    std::size_t height;

    const Byte* row(std::size_t y) const { return values.data() + width * y; }
};

template <class Value>
Plane plane_of(const Picture& picture, const Value& value) {
    Plane plane{std::vector<Byte>(picture.size()), picture.width, picture.height};
    const Byte* pixel = picture.pixels;
    for (Byte& target : plane.values) {
        target = static_cast<Byte>(value(pixel[0], pixel[1], pixel[2]));
        pixel += 3;
    }
    return plane;
}

// The quotient cut downwards, also below zero.
inline int floor_div(int a, int b) { return a / b - (a % b < 0 ? 1 : 0); }

// A thousand times the luminance .299 R + .587 G + .114 B: whole numbers need no rounding.
inline int thousandfold_luminance(int r, int g, int b) { return 299 * r + 587 * g + 114 * b; }

// The luminance in [0, 1) and, on the scale of studio video, 16..235. In double precision, unlike
// the others: pure grey 128 is 125 and not 126 in every program, since .299 + .587 + .114 stays
// just below 1.
inline double luminance(int r, int g, int b) { return (.299 * r + .587 * g + .114 * b) / 256; }
inline int video_luminance(double light) { return static_cast<int>(219 * light + 16.5); }

// The grey of everyday programs, (77 R + 150 G + 29 B) / 256 to the nearest.
inline int plain_grey(int r, int g, int b) { return (77 * r + 150 * g + 29 * b + 128) / 256; }

// A grey in linear light, as colour profiles make it; it darkens the middle tones.
Plane linear_grey(const Picture& picture);

// Counts as whole levels from 0 to `top`, which the largest count gets.
void levels_of(const std::vector<Whole>& counts, Whole top, double* out);

}  // namespace cranfield::features
