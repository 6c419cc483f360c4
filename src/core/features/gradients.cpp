// PHOG: histograms of the directions of edges in the picture, its quarters and its sixteenths.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "features/table.hpp"

namespace cranfield::features {

namespace {
constexpr std::size_t bins = 30;
constexpr std::size_t cells = 21;
constexpr double threshold = 60;
constexpr double pi = std::numbers::pi;

struct Gradients {
    std::vector<std::int32_t> across, down, squared;
};

// Sobel's differences; nothing on the border.
Gradients gradients_of(const Plane& grey) {
    const std::size_t size = grey.values.size();
    Gradients all{std::vector<std::int32_t>(size), std::vector<std::int32_t>(size),
                  std::vector<std::int32_t>(size)};
    for (std::size_t y = 1; y + 1 < grey.height; ++y) {
        const Byte *a = grey.row(y - 1), *b = grey.row(y), *c = grey.row(y + 1);
        std::int32_t* across = all.across.data() + grey.width * y;
        std::int32_t* down = all.down.data() + grey.width * y;
        std::int32_t* squared = all.squared.data() + grey.width * y;
        for (std::size_t x = 1; x + 1 < grey.width; ++x) {
            const int l = a[x - 1] + 2 * b[x - 1] + c[x - 1],
                      r = a[x + 1] + 2 * b[x + 1] + c[x + 1];
            const int t = a[x - 1] + 2 * a[x] + a[x + 1], u = c[x - 1] + 2 * c[x] + c[x + 1];
            across[x] = l - r;
            down[x] = t - u;
            squared[x] = (l - r) * (l - r) + (t - u) * (t - u);
        }
    }
    return all;
}

double direction_of(int across, int down) {
    return across == 0 ? pi / 2 : std::atan(static_cast<double>(down) / across);
}

// Whether a pixel stands out from its two neighbours along the gradient.
bool is_edge(const Gradients& all, std::size_t i, std::size_t width) {
    const int here = all.squared[i];
    if (!(here > threshold * threshold)) return false;
    // Below and above an eighth and three eighths of half a circle: no whole numbers lie on them.
    const double across = std::abs(all.across[i]), down = std::abs(all.down[i]);
    const double eighth = std::numbers::sqrt2 - 1;
    std::size_t step = width;
    if (down < eighth * across)
        step = 1;
    else if (down * eighth < across)
        step = (all.across[i] > 0) == (all.down[i] > 0) ? width + 1 : width - 1;
    return here > all.squared[i - step] && here > all.squared[i + step];
}

struct Pyramid {
    double votes[cells][bins] = {};
};

// The cells that a pixel is in, one a level at most; below the whole the remainders are dropped.
// `by_columns` numbers the sixteenths down each column, as the common program does.
template <class Vote>
void add_votes(const Plane& grey, std::size_t x, std::size_t y, bool by_columns, Pyramid& pyramid,
               const Vote& vote) {
    vote(pyramid.votes[0]);
    const std::size_t w2 = grey.width / 2, h2 = grey.height / 2;
    if (x < 2 * w2 && y < 2 * h2) vote(pyramid.votes[1 + 2 * (y / h2) + x / w2]);
    const std::size_t w4 = grey.width / 4, h4 = grey.height / 4;
    if (x < 4 * w4 && y < 4 * h4) {
        const std::size_t column = x / w4, row = y / h4;
        vote(pyramid.votes[5 + (by_columns ? 4 * column + row : 4 * row + column)]);
    }
}

// Sets the votes of every edge pixel; `turned` gives the nearer bin the smaller part.
Pyramid pyramid_of(const Plane& grey, bool turned, bool weighed) {
    Pyramid pyramid;
    const Gradients all = gradients_of(grey);
    for (std::size_t y = 1; y + 1 < grey.height; ++y)
        for (std::size_t x = 1; x + 1 < grey.width; ++x) {
            const std::size_t i = grey.width * y + x;
            if (!is_edge(all, i, grey.width)) continue;
            const double weight = weighed ? std::sqrt(static_cast<double>(all.squared[i])) : 1;
            const double place = bins * (direction_of(all.across[i], all.down[i]) / pi + 0.5);
            const double low = std::floor(place), part = place - low;
            const std::size_t first = static_cast<std::size_t>(low) % bins;
            add_votes(grey, x, y, turned, pyramid, [&](double* cell) {
                if (part == 0) {
                    cell[first] += weight;
                    return;
                }
                cell[first] += (turned ? part : 1 - part) * weight;
                cell[(first + 1) % bins] += (turned ? 1 - part : part) * weight;
            });
        }
    return pyramid;
}
}  // namespace

namespace kernels {
void gradient_pyramid(const Picture& picture, double* out) {
    const Pyramid pyramid = pyramid_of(plain_grey(picture), false, true);
    const double* votes = pyramid.votes[0];
    double sum = 0;
    for (std::size_t i = 0; i < cells * bins; ++i) sum += votes[i];
    for (std::size_t i = 0; i < cells * bins && sum > 0; ++i) out[i] = votes[i] / sum;
}

void gradient_pyramid_lire(const Picture& picture, double* out) {
    const Pyramid pyramid = pyramid_of(linear_grey(picture), true, false);
    for (std::size_t cell = 0; cell < cells; ++cell) {
        const auto& votes = pyramid.votes[cell];
        const double largest = *std::max_element(std::begin(votes), std::end(votes));
        for (std::size_t i = 0; i < bins && largest > 0; ++i)
            out[bins * cell + i] = std::floor(15 * (votes[i] / largest));
    }
}
}  // namespace kernels

}  // namespace cranfield::features
