// Tamura's coarseness, contrast and directionality: as in the paper, and as in the common program.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "features/table.hpp"

namespace cranfield::features {

namespace {
constexpr std::size_t directions = 16;
constexpr double half_turn = std::numbers::pi / 2;

// Sums over windows of a plane whose edge pixels go on for ever. Sums of all pixels may go round
// in 32 bits; those of windows are differences of them and come out right.
class Windows {
  public:
    Windows(const Plane& plane, std::size_t margin)
        : margin_(margin), stride_(plane.width + 2 * margin + 1) {
        const std::size_t rows = plane.height + 2 * margin;
        const auto inside = [&](std::size_t i, std::size_t n) {
            return i < margin ? 0 : std::min(i - margin, n - 1);
        };
        sums_.assign(stride_ * (rows + 1), 0);
        for (std::size_t y = 0; y < rows; ++y) {
            const Byte* row = plane.row(inside(y, plane.height));
            const std::uint32_t* above = &sums_[stride_ * y];
            std::uint32_t* here = &sums_[stride_ * (y + 1)];
            std::uint32_t sum = 0;
            for (std::size_t x = 0; x + 1 < stride_; ++x) {
                sum += row[inside(x, plane.width)];
                here[x + 1] = above[x + 1] + sum;
            }
        }
    }

    // The sum over side x side pixels from (x, y) on, which may lie up to the margin outside.
    Whole sum(std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t side) const {
        const std::uint32_t* first = at(x, y);
        const std::uint32_t* last = at(x, y + side);
        return last[side] - last[0] - first[side] + first[0];
    }

    const std::uint32_t* at(std::ptrdiff_t x, std::ptrdiff_t y) const {
        const auto margin = static_cast<std::ptrdiff_t>(margin_);
        return sums_.data() + static_cast<std::ptrdiff_t>(stride_) * (y + margin) + x + margin;
    }

  private:
    std::size_t margin_, stride_;
    std::vector<std::uint32_t> sums_;
};

struct Moments {
    double deviation = 0;
    double fourth = 0;
};

// The standard deviation and the mean fourth power of the deviations.
Moments moments_of(const Plane& grey) {
    std::array<Whole, 256> counts{};
    for (const Byte value : grey.values) ++counts[value];
    const double pixels = static_cast<double>(grey.values.size());
    double mean = 0;
    for (int v = 0; v < 256; ++v) mean += v * static_cast<double>(counts[std::size_t(v)]);
    mean /= pixels;
    double second = 0;
    Moments moments;
    for (int v = 0; v < 256; ++v) {
        const double squared = (v - mean) * (v - mean);
        second += squared * static_cast<double>(counts[std::size_t(v)]);
        moments.fourth += squared * squared * static_cast<double>(counts[std::size_t(v)]);
    }
    moments.deviation = std::sqrt(second / pixels);
    moments.fourth /= pixels;
    return moments;
}

double contrast_of(double deviation, double fourth) {
    if (deviation == 0) return 0;
    return deviation / std::pow(fourth / std::pow(deviation, 4), 0.25);
}

struct Slope {
    int along, down;
};

// Differences of the sums of three pixels right and left, below and above.
Slope slope_at(const Plane& grey, std::size_t x, std::size_t y) {
    const Byte *a = grey.row(y - 1) + x, *b = grey.row(y) + x, *c = grey.row(y + 1) + x;
    return {a[1] + b[1] + c[1] - a[-1] - b[-1] - c[-1], c[-1] + c[0] + c[1] - a[-1] - a[0] - a[1]};
}

// The picture so that its longer side has at most 64 pixels: lines between pixels, no smoothing,
// in numbers of 32 bits behind the point.
Plane shrunk(Plane grey) {
    constexpr std::size_t longest = 64;
    const std::size_t longer = std::max(grey.width, grey.height);
    if (longer <= longest) return grey;
    const auto side = [&](std::size_t n) {
        return std::max<std::size_t>(1, (2 * n * longest + longer) / (2 * longer));
    };
    Plane small{{}, side(grey.width), side(grey.height)};
    struct Place {
        std::size_t low, high;
        int rest;
    };
    const auto places = [](std::size_t from, std::size_t to) {
        const Whole n = static_cast<Whole>(from), size = static_cast<Whole>(to);
        const Whole by = (n << 32) / size, start = (n << 31) / size - (Whole{1} << 31);
        std::vector<Place> all;
        for (Whole i = 0; i < size; ++i) {
            const Whole at = start + i * by, low = at >> 32;
            const auto clamped = [&](Whole p) {
                return static_cast<std::size_t>(std::clamp<Whole>(p, 0, n - 1));
            };
            all.push_back({clamped(low), clamped(low + 1), static_cast<int>(at >> 24 & 255)});
        }
        return all;
    };
    const auto columns = places(grey.width, small.width);
    for (const Place& down : places(grey.height, small.height))
        for (const Place& along : columns) {
            const auto between = [&](const Byte* row) {
                return 256 * row[along.low] + (row[along.high] - row[along.low]) * along.rest;
            };
            const int upper = between(grey.row(down.low)), lower = between(grey.row(down.high));
            small.values.push_back(
                static_cast<Byte>((256 * upper + (lower - upper) * down.rest + 32768) >> 16));
        }
    return small;
}

double coarseness_lire(const Plane& grey) {
    const Windows windows(grey, 20);
    Whole sum = 0;
    const auto width = static_cast<std::ptrdiff_t>(grey.width);
    const auto height = static_cast<std::ptrdiff_t>(grey.height);
    for (std::ptrdiff_t y = 1; y + 1 < height; ++y)
        for (std::ptrdiff_t x = 1; x + 1 < width; ++x) {
            Whole best = 0;
            int best_k = 1;
            for (int k = 1; k <= 2; ++k) {
                const std::ptrdiff_t o = std::ptrdiff_t{1} << (k - 1), side = o * o * 4;
                const Whole across =
                    std::abs(windows.sum(x, y - o, side) - windows.sum(x - 2 * o, y - o, side));
                const Whole down =
                    std::abs(windows.sum(x - o, y, side) - windows.sum(x - o, y - 2 * o, side));
                // Brought to the divisor of the larger window.
                const Whole difference = std::max(across, down) << (k == 1 ? 2 : 0);
                if (difference > best) {
                    best = difference;
                    best_k = k;
                }
            }
            sum += Whole{1} << best_k;
        }
    return static_cast<double>(sum) / static_cast<double>(width * height);
}

void directions_lire(const Plane& grey, double* counts) {
    for (std::size_t y = 1; y + 1 < grey.height; ++y)
        for (std::size_t x = 1; x + 1 < grey.width; ++x) {
            const Slope slope = slope_at(grey, x, y);
            double angle = -half_turn;
            if (slope.down != 0)
                angle = std::atan(static_cast<double>(slope.along) / slope.down);
            else if (slope.along > 0)
                angle = half_turn;
            ++counts[static_cast<std::size_t>((half_turn + angle) / 0.2)];
        }
}

// Differences of the means of neighbouring windows, in 1 / 4^5 of a grey level, and the side of the
// window that shows the largest.
struct Best {
    std::vector<std::int32_t> difference, side;
};

// Row by row and without branches, so that many pixels are compared at once.
void compare_windows(const Windows& windows, std::ptrdiff_t width, std::ptrdiff_t height, int k,
                     Best& best) {
    const std::ptrdiff_t half = std::ptrdiff_t{1} << (k - 1), side = 2 * half;
    const int shift = 2 * (5 - k);
    const auto size = static_cast<std::int32_t>(side);
    const auto whole = [](std::uint32_t sum) { return static_cast<std::int32_t>(sum); };
    for (std::ptrdiff_t y = 0; y < height; ++y) {
        const std::uint32_t *top = windows.at(0, y - half), *bottom = windows.at(0, y + half);
        const std::uint32_t *first = windows.at(0, y - side), *middle = windows.at(0, y);
        const std::uint32_t* last = windows.at(0, y + side);
        std::int32_t* __restrict differences = best.difference.data() + width * y;
        std::int32_t* __restrict sides = best.side.data() + width * y;
        for (std::ptrdiff_t x = 0; x < width; ++x) {
            const std::int32_t right = whole(bottom[x + side] - bottom[x] - top[x + side] + top[x]);
            const std::int32_t left = whole(bottom[x] - bottom[x - side] - top[x] + top[x - side]);
            const std::int32_t below =
                whole(last[x + half] - last[x - half] - middle[x + half] + middle[x - half]);
            const std::int32_t above =
                whole(middle[x + half] - middle[x - half] - first[x + half] + first[x - half]);
            const std::int32_t found = std::max(std::abs(right - left), std::abs(below - above))
                                       << shift;
            const bool larger = found > differences[x];
            sides[x] = larger ? size : sides[x];
            differences[x] = larger ? found : differences[x];
        }
    }
}

double coarseness_of(const Plane& grey) {
    constexpr int largest = 5;
    const Windows windows(grey, std::size_t{1} << largest);
    Best best{std::vector<std::int32_t>(grey.values.size(), 0),
              std::vector<std::int32_t>(grey.values.size(), 2)};
    for (int k = 1; k <= largest; ++k)
        compare_windows(windows, static_cast<std::ptrdiff_t>(grey.width),
                        static_cast<std::ptrdiff_t>(grey.height), k, best);
    Whole sum = 0;
    for (const std::int32_t side : best.side) sum += side;
    return static_cast<double>(sum) / static_cast<double>(best.side.size());
}

// The sixteenth of the half circle that the angle of a steepness is in: how many of the steepnesses
// between sixteenths it has reached.
std::size_t sixteenth_of(double steepness) {
    static const auto borders = [] {
        std::array<double, directions - 1> all{};
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = std::tan(-half_turn + static_cast<double>(i + 1) * std::numbers::pi / 16);
        all[3] = -1;
        all[7] = 0;
        all[11] = 1;
        return all;
    }();
    std::size_t reached = 0;
    for (const double border : borders) reached += steepness >= border;
    return reached;
}

void directions_of(const Plane& grey, double* shares) {
    constexpr int threshold = 12;
    Whole counts[directions] = {}, all = 0;
    for (std::size_t y = 1; y + 1 < grey.height; ++y)
        for (std::size_t x = 1; x + 1 < grey.width; ++x) {
            const Slope slope = slope_at(grey, x, y);
            if (std::abs(slope.along) + std::abs(slope.down) < 2 * threshold) continue;
            // A vertical slope is the end of the half circle, which is its beginning.
            const std::size_t bin =
                slope.along == 0 ? 0 : sixteenth_of(static_cast<double>(slope.down) / slope.along);
            ++counts[bin];
            ++all;
        }
    for (std::size_t i = 0; i < directions && all; ++i)
        shares[i] = static_cast<double>(counts[i]) / static_cast<double>(all);
}
}  // namespace

namespace kernels {
void tamura(const Picture& picture, double* out) {
    const Plane grey = plain_grey(picture);
    const Moments moments = moments_of(grey);
    out[0] = coarseness_of(grey);
    out[1] = contrast_of(moments.deviation, moments.fourth);
    directions_of(grey, out + 2);
}

void tamura_lire(const Picture& picture, double* out) {
    const Plane grey = shrunk(linear_grey(picture));
    const Moments moments = moments_of(grey);
    const double pixels = static_cast<double>(grey.values.size());
    out[0] = coarseness_lire(grey);
    // The sum of the fourth powers where the paper has their mean.
    out[1] = contrast_of(moments.deviation, moments.fourth * pixels);
    directions_lire(grey, out + 2);
}
}  // namespace kernels

}  // namespace cranfield::features
