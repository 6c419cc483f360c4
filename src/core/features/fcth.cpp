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

// Sums of the luminance in 4 x 4 cells of a block, and of its colours.
struct Block {
    std::array<std::array<Whole, cells>, cells> light{};
    Whole r = 0, g = 0, b = 0;
};

// Where the cells of a side begin; the last number is the side.
std::array<std::size_t, cells + 1> cell_starts(std::size_t side) {
    return {0, side / 4, side / 2, 3 * side / 4, side};
}

using Starts = std::array<std::size_t, cells + 1>;

Block read_block(const Picture& picture, std::size_t x, std::size_t y, const Starts& columns,
                 const Starts& rows) {
    Block block;
    Whole r = 0, g = 0, b = 0;
    for (std::size_t j = 0; j < cells; ++j)
        for (std::size_t k = rows[j]; k < rows[j + 1]; ++k) {
            const Byte* pixel = picture.row(y + k) + 3 * x;
            for (std::size_t i = 0; i < cells; ++i) {
                int light = 0;
                for (std::size_t n = columns[i]; n < columns[i + 1]; ++n, pixel += 3) {
                    r += pixel[0];
                    g += pixel[1];
                    b += pixel[2];
                    light += thousandfold_luminance(pixel[0], pixel[1], pixel[2]) / 1000;
                }
                block.light[j][i] += light;
            }
        }
    block.r = r;
    block.g = g;
    block.b = b;
    return block;
}

// What is left of a number in a signed byte.
Whole folded(Whole value) {
    const Whole byte = value % 256;
    return byte > 127 ? byte - 256 : byte;
}

struct Energies {
    double top_bottom, left_right, diagonal;
};

Energies energies_of(const Block& block, const Starts& columns, const Starts& rows) {
    Whole top_bottom = 0, left_right = 0, diagonal = 0;
    for (std::size_t j = 0; j < cells; j += 2)
        for (std::size_t i = 0; i < cells; i += 2) {
            // Means of the four cells, brought to one denominator so that they stay whole.
            const Whole w0 = static_cast<Whole>(columns[i + 1] - columns[i]);
            const Whole w1 = static_cast<Whole>(columns[i + 2] - columns[i + 1]);
            const Whole h0 = static_cast<Whole>(rows[j + 1] - rows[j]);
            const Whole h1 = static_cast<Whole>(rows[j + 2] - rows[j + 1]);
            const Whole a = block.light[j][i] * w1 * h1, b = block.light[j][i + 1] * w0 * h1;
            const Whole c = block.light[j + 1][i] * w1 * h0,
                        d = block.light[j + 1][i + 1] * w0 * h0;
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

template <std::size_t Colours, class ColoursOf>
void describe(const Picture& picture, const ColoursOf& colours_of, double* out) {
    const auto side = [](std::size_t length) {
        const std::size_t n = length / 40;
        return std::max<std::size_t>(4, n - n % 2);
    };
    const std::size_t width = side(picture.width), height = side(picture.height);
    const Starts columns = cell_starts(width), rows = cell_starts(height);
    const Whole pixels = static_cast<Whole>(width * height);
    double bins[regions * Colours] = {};
    // Strictly below: the last full row and column of blocks is left out.
    for (std::size_t y = 0; y + height < picture.height; y += height)
        for (std::size_t x = 0; x + width < picture.width; x += width) {
            const Block block = read_block(picture, x, y, columns, rows);
            const auto active = activations(energies_of(block, columns, rows));
            const auto colours =
                colours_of(static_cast<int>(block.r / pixels), static_cast<int>(block.g / pixels),
                           static_cast<int>(block.b / pixels));
            for (std::size_t region = 0; region < regions; ++region) {
                if (active[region] == 0) continue;
                for (std::size_t c = 0; c < Colours; ++c)
                    bins[region * Colours + c] += active[region] * colours[c];
            }
        }
    quantise(bins, regions, Colours, level_values, row_of_region, out);
}
}  // namespace

namespace kernels {
void fcth(const Picture& picture, double* out) { describe<24>(picture, twenty_four_colours, out); }

void compact_fcth(const Picture& picture, double* out) { describe<10>(picture, ten_colours, out); }

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
