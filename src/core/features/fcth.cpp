// FCTH (8 regions of texture x 24 colours), its compact form (8 x 10), and JCD, CEDD and FCTH in
// one.
#include <algorithm>
#include <array>
#include <cmath>

#include "features/fuzzy.hpp"
#include "features/table.hpp"

namespace cranfield::features {

namespace {
constexpr std::size_t regions = 8;
constexpr std::size_t cells = 4;

// The first two rows differ in one number, as all known copies of the definition do.
constexpr Levels level_values[] = {
    {130.0887781556944, 9317.31301788632, 22434.355689233365, 43120.548602722061,
     83168.640165905046, 101430.52589975641, 174840.65838706805, 224480.41479670047},
    {130.0887781556944, 9317.31301788632, 22434.355689233365, 43120.548602722061,
     83168.640165905046, 151430.52589975641, 174840.65838706805, 224480.41479670047},
    {239.769468748322, 17321.704312335689, 39113.643180734696, 69333.512093874378,
     79122.46400035513, 90980.3325940354, 161795.93301552488, 184729.98648386425},
    {180.19686541079636, 23730.024499150866, 41457.152912541605, 53918.55437576842,
     69122.46400035513, 81980.3325940354, 91795.93301552488, 124729.98648386425}};
constexpr int row_of_region[regions] = {0, 1, 2, 2, 2, 2, 3, 3};

// Where the cells of a side begin; the last number is the side.
std::array<std::size_t, cells + 1> cell_starts(std::size_t side) {
    return {0, side / 4, side / 2, 3 * side / 4, side};
}

using Starts = std::array<std::size_t, cells + 1>;

// A row of blocks, added up column by column: the colours of all its rows, and the luminance of
// the rows of each row of cells.
struct Strip {
    std::vector<std::uint32_t> colours;
    std::array<std::vector<std::uint32_t>, cells> light;
};

void add_strip(const Picture& picture, const Plane& grey, std::size_t y, const Starts& rows,
               Strip& strip) {
    strip.colours.assign(3 * picture.width, 0);
    add_rows(picture.row(y), rows[cells], 3 * picture.width, strip.colours.data());
    for (std::size_t j = 0; j < cells; ++j) {
        strip.light[j].assign(grey.width, 0);
        add_rows(grey.row(y + rows[j]), rows[j + 1] - rows[j], grey.width, strip.light[j].data());
    }
}

// Sums of the luminance in 4 x 4 cells of a block.
using Light = std::array<std::array<Whole, cells>, cells>;

Light light_of(const Strip& strip, std::size_t x, const Starts& columns) {
    Light light{};
    for (std::size_t j = 0; j < cells; ++j)
        for (std::size_t i = 0; i < cells; ++i)
            for (std::size_t n = columns[i]; n < columns[i + 1]; ++n)
                light[j][i] += strip.light[j][x + n];
    return light;
}

Colours mean_colours(const Strip& strip, std::size_t x, std::size_t width, Whole pixels) {
    Whole sums[3] = {};
    for (std::size_t i = x; i < x + width; ++i)
        for (std::size_t channel = 0; channel < 3; ++channel)
            sums[channel] += strip.colours[3 * i + channel];
    const auto mean = [&](Whole sum) { return static_cast<int>(sum / pixels); };
    return colours_of(mean(sums[0]), mean(sums[1]), mean(sums[2]));
}

// What is left of a number in a signed byte.
Whole folded(Whole value) {
    const Whole byte = value % 256;
    return byte > 127 ? byte - 256 : byte;
}

struct Energies {
    double top_bottom, left_right, diagonal;
};

Energies energies_of(const Light& light, const Starts& columns, const Starts& rows) {
    Whole top_bottom = 0, left_right = 0, diagonal = 0;
    for (std::size_t j = 0; j < cells; j += 2)
        for (std::size_t i = 0; i < cells; i += 2) {
            // Means of the four cells, brought to one denominator so that they stay whole.
            const Whole w0 = static_cast<Whole>(columns[i + 1] - columns[i]);
            const Whole w1 = static_cast<Whole>(columns[i + 2] - columns[i + 1]);
            const Whole h0 = static_cast<Whole>(rows[j + 1] - rows[j]);
            const Whole h1 = static_cast<Whole>(rows[j + 2] - rows[j + 1]);
            const Whole a = light[j][i] * w1 * h1, b = light[j][i + 1] * w0 * h1;
            const Whole c = light[j + 1][i] * w1 * h0, d = light[j + 1][i + 1] * w0 * h0;
            const Whole denominator = w0 * w1 * h0 * h1;
            const auto band = [&](Whole difference) {
                const Whole value = folded(std::abs(difference) / denominator);
                return value * value;
            };
            top_bottom += band(c + d - a - b);
            left_right += band(a - b + c - d);
            diagonal += band(b + c - a - d);
        }
    const auto energy = [](Whole squares) { return std::sqrt(static_cast<double>(squares) / 4); };
    return {energy(top_bottom), energy(left_right), energy(diagonal)};
}

std::array<double, regions> activations(const Energies& energies) {
    const auto sets = [](double x, double end) {
        return std::array<double, 2>{trapezoid(x, {0, 0, 20, end}),
                                     trapezoid(x, {20, end, 255, 255})};
    };
    const auto diagonal = sets(energies.diagonal, 90);
    const auto left_right = sets(energies.left_right, 90);
    const auto top_bottom = sets(energies.top_bottom, 80);
    std::array<double, regions> found{};
    for (std::size_t region = 0; region < regions; ++region)
        found[region] =
            std::min({diagonal[region / 4], left_right[region / 2 % 2], top_bottom[region % 2]});
    return found;
}

// Both forms in one go, where both are wanted.
void describe(const Picture& picture, double* full, double* compact) {
    const auto side = [](std::size_t length) {
        const std::size_t n = length / 40;
        return std::max<std::size_t>(4, n - n % 2);
    };
    const std::size_t width = side(picture.width), height = side(picture.height);
    const Starts columns = cell_starts(width), rows = cell_starts(height);
    const Whole pixels = static_cast<Whole>(width * height);
    double bins[regions * 24] = {}, compact_bins[regions * 10] = {};
    const Plane grey = whole_grey(picture);
    Strip strip;
    // Strictly below: the last full row and column of blocks is left out.
    for (std::size_t y = 0; y + height < picture.height; y += height) {
        add_strip(picture, grey, y, rows, strip);
        for (std::size_t x = 0; x + width < picture.width; x += width) {
            const auto active =
                activations(energies_of(light_of(strip, x, columns), columns, rows));
            const Colours colours = mean_colours(strip, x, width, pixels);
            for (std::size_t region = 0; region < regions; ++region) {
                if (active[region] == 0) continue;
                for (std::size_t c = 0; c < 24; ++c)
                    bins[region * 24 + c] += active[region] * colours.all[c];
                for (std::size_t c = 0; c < 10; ++c)
                    compact_bins[region * 10 + c] += active[region] * colours.ten[c];
            }
        }
    }
    if (full) quantise(bins, regions, 24, level_values, row_of_region, full);
    if (compact) quantise(compact_bins, regions, 10, level_values, row_of_region, compact);
}
}  // namespace

namespace kernels {
void fcth(const Picture& picture, double* out) { describe(picture, out, nullptr); }

void compact_fcth(const Picture& picture, double* out) { describe(picture, nullptr, out); }

void both_fcth(const Picture& picture, double* full, double* compact) {
    describe(picture, full, compact);
}

void join_cedd_fcth(const double* cedd, const double* fcth, double* jcd) {
    constexpr std::size_t colours = 24;
    const auto c = [&](std::size_t region, std::size_t i) { return cedd[colours * region + i]; };
    const auto f = [&](std::size_t region, std::size_t i) { return fcth[colours * region + i]; };
    for (std::size_t i = 0; i < colours; ++i) {
        const double rows[] = {(c(0, i) + f(0, i) + f(4, i)) / 2,
                               (c(2, i) + f(1, i) + f(5, i)) / 2,
                               c(4, i),
                               (c(3, i) + f(2, i) + f(6, i)) / 2,
                               c(5, i),
                               f(3, i) + f(7, i),
                               c(1, i)};
        for (std::size_t row = 0; row < 7; ++row) jcd[row * colours + i] = rows[row];
    }
}

void jcd(const Picture& picture, double* out) {
    double c[144] = {}, f[192] = {};
    cedd(picture, c);
    fcth(picture, f);
    join_cedd_fcth(c, f, out);
}
}  // namespace kernels

}  // namespace cranfield::features
