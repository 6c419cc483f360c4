// A picture as the descriptors see it: rows of R, G, B, each 0..255.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wide.hpp"

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

// A number of every pixel, row by row: what is called on R, G and B has whole numbers in and out.
template <class Value>
CRANFIELD_ALONG void each_pixel(const Byte* pixels, std::size_t count, const Value& value,
                                Byte* out) {
    for (std::size_t i = 0; i < count; ++i)
        out[i] = static_cast<Byte>(value(pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]));
}

template <class Value>
CRANFIELD_ALONG Plane plane_of(const Picture& picture, const Value& value) {
    Plane plane{std::vector<Byte>(picture.size()), picture.width, picture.height};
    each_pixel(picture.pixels, picture.size(), value, plane.values.data());
    return plane;
}

// The quotient cut downwards, also below zero.
inline int floor_div(int a, int b) { return a / b - (a % b < 0 ? 1 : 0); }

// The luminance in [0, 1) and, on the scale of studio video, 16..235. In double precision, unlike
// the others: pure grey 128 is 125 and not 126 in every program, since .299 + .587 + .114 stays
// just below 1.
inline double luminance(int r, int g, int b) { return (.299 * r + .587 * g + .114 * b) / 256; }
inline int video_luminance(double light) { return static_cast<int>(219 * light + 16.5); }

// The grey of everyday programs, (77 R + 150 G + 29 B) / 256 to the nearest.
Plane plain_grey(const Picture& picture);

// The luminance of studio video.
Plane video_grey(const Picture& picture);

// The luminance cut to whole numbers.
Plane whole_grey(const Picture& picture);

// A grey in linear light, as colour profiles make it; it darkens the middle tones.
Plane linear_grey(const Picture& picture);

// Rows of a picture or plane added up number by number, `count` rows of `length` numbers.
void add_rows(const Byte* rows, std::size_t count, std::size_t length, std::uint32_t* sums);

// How often each code occurs, added to `counts` of 256.
void count_codes(const Byte* codes, std::size_t count, Whole* counts);

// Counts as whole levels from 0 to `top`, which the largest count gets.
void levels_of(const std::vector<Whole>& counts, Whole top, double* out);

}  // namespace cranfield::features
