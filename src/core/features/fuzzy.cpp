#include "features/fuzzy.hpp"

#include <algorithm>
#include <cmath>

namespace cranfield::features {

namespace {
constexpr std::array<std::array<double, 4>, 8> hue_sets{{{0, 0, 5, 10},
                                                         {5, 10, 35, 50},
                                                         {35, 50, 70, 85},
                                                         {70, 85, 150, 165},
                                                         {150, 165, 195, 205},
                                                         {195, 205, 265, 280},
                                                         {265, 280, 315, 330},
                                                         {315, 330, 360, 360}}};
constexpr std::array<std::array<double, 4>, 2> saturation_sets{
    {{0, 0, 10, 75}, {10, 75, 255, 255}}};
constexpr std::array<std::array<double, 4>, 3> value_sets{
    {{0, 0, 10, 75}, {10, 75, 180, 220}, {180, 220, 255, 255}}};
constexpr std::array<std::array<double, 4>, 2> shade_sets{{{0, 0, 68, 188}, {68, 188, 255, 255}}};

// The memberships of every whole number in some sets.
template <std::size_t Sets, std::size_t Numbers>
std::array<std::array<double, Sets>, Numbers> memberships(
    const std::array<std::array<double, 4>, Sets>& sets) {
    std::array<std::array<double, Sets>, Numbers> table{};
    for (std::size_t x = 0; x < Numbers; ++x)
        for (std::size_t i = 0; i < Sets; ++i)
            table[x][i] = trapezoid(static_cast<double>(x), sets[i]);
    return table;
}

struct Tables {
    std::array<std::array<double, 8>, 361> hue = memberships<8, 361>(hue_sets);
    std::array<std::array<double, 2>, 256> saturation = memberships<2, 256>(saturation_sets);
    std::array<std::array<double, 3>, 256> value = memberships<3, 256>(value_sets);
    std::array<std::array<double, 2>, 256> shade = memberships<2, 256>(shade_sets);
};

const Tables& tables() {
    static const Tables all;
    return all;
}

struct Hsv {
    std::size_t hue, saturation, value;
};

// 359, 119 and 239, not 360, 120 and 240, are part of the definition.
Hsv hsv_of(int r, int g, int b) {
    const int high = std::max({r, g, b});
    const int spread = high - std::min({r, g, b});
    int hue = 0;
    if (spread > 0) {
        if (high == r)
            hue = (g >= b ? 0 : 359) + floor_div(60 * (g - b), spread);
        else if (high == g)
            hue = 119 + floor_div(60 * (b - r), spread);
        else
            hue = 239 + floor_div(60 * (r - g), spread);
    }
    const int saturation = high == 0 ? 0 : 255 * spread / high;
    return {static_cast<std::size_t>(hue), static_cast<std::size_t>(saturation),
            static_cast<std::size_t>(high)};
}

// The colour that a combination of hue, saturation and value sets stands for.
constexpr std::size_t colour_of(std::size_t hue, std::size_t saturation, std::size_t value) {
    if (value == 0) return 2;
    if (saturation == 0) return value == 2 ? 0 : 1;
    return hue == 7 ? 3 : 3 + hue;
}

Colours10 ten_of(const Hsv& hsv) {
    const Tables& all = tables();
    const auto& hues = all.hue[hsv.hue];
    const auto& saturations = all.saturation[hsv.saturation];
    const auto& values = all.value[hsv.value];
    Colours10 colours{};
    for (std::size_t i = 0; i < 8; ++i) {
        if (hues[i] == 0) continue;
        for (std::size_t s = 0; s < 2; ++s)
            for (std::size_t v = 0; v < 3; ++v)
                colours[colour_of(i, s, v)] += std::min({hues[i], saturations[s], values[v]});
    }
    return colours;
}
}  // namespace

double trapezoid(double x, const std::array<double, 4>& corners) {
    const auto [a, b, c, d] = corners;
    if (x >= b && x <= c) return 1;
    if (x >= a && x < b) return (x - a) / (b - a);
    if (x > c && x <= d) return (d - x) / (d - c);
    return 0;
}

Colours colours_of(int r, int g, int b) {
    const Hsv hsv = hsv_of(r, g, b);
    Colours found{ten_of(hsv), {}};
    const auto [low, high] = tables().shade[hsv.saturation];
    const auto [dark, bright] = tables().shade[hsv.value];
    const double shades[] = {std::min(low, bright), std::min(high, bright),
                             std::min(low, dark) + std::min(high, dark)};
    std::copy_n(found.ten.begin(), 3, found.all.begin());
    for (std::size_t i = 3; i < 10; ++i)
        for (std::size_t o = 0; o < 3; ++o) found.all[3 * (i - 2) + o] = found.ten[i] * shades[o];
    return found;
}

void quantise(const double* bins, std::size_t regions, std::size_t colours, const Levels* values,
              const int* row_of_region, double* out) {
    double sum = 0;
    for (std::size_t i = 0; i < regions * colours; ++i) sum += bins[i];
    if (sum == 0) return;
    for (std::size_t i = 0; i < regions * colours; ++i) {
        const Levels& row = values[row_of_region[i / colours]];
        const double share = bins[i] / sum * 1e6;
        std::size_t nearest = 0;
        for (std::size_t level = 1; level < row.size(); ++level)
            if (std::abs(share - row[level]) < std::abs(share - row[nearest])) nearest = level;
        out[i] = static_cast<double>(nearest);
    }
}

}  // namespace cranfield::features
