#include "kernels/masks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace cranfield::masks {

bool from_text(std::string_view text, std::uint32_t height, std::uint32_t width,
               std::vector<std::uint32_t>& runs) {
    // Five bits of a number in each letter, the lowest first; the sixth says that more follow, and
    // from the fourth number on a number is the difference from the last but one.
    const std::int64_t pixels = std::int64_t{height} * width;
    std::int64_t sum = 0;
    runs.clear();
    for (std::size_t p = 0; p < text.size();) {
        std::int64_t value = 0;
        unsigned shift = 0;
        bool more = true;
        while (more) {
            if (p == text.size() || shift > 35) return false;
            const int letter = static_cast<unsigned char>(text[p++]) - 48;
            if (letter < 0 || letter > 63) return false;
            value |= std::int64_t{letter & 0x1f} << shift;
            shift += 5;
            more = letter & 0x20;
            if (!more && (letter & 0x10)) value |= -(std::int64_t{1} << shift);
        }
        if (runs.size() > 2) value += runs[runs.size() - 2];
        if (value < 0 || value > pixels - sum) return false;
        sum += value;
        runs.push_back(static_cast<std::uint32_t>(value));
    }
    return sum == pixels;
}

std::vector<std::uint32_t> from_polygon(std::span<const double> xy, std::uint32_t height,
                                        std::uint32_t width) {
    // The boundary in steps of a fifth of a pixel, then where it crosses the middle of columns.
    constexpr double scale = 5;
    const std::size_t corners = xy.size() / 2;
    std::vector<int> x(corners + 1), y(corners + 1);
    for (std::size_t j = 0; j < corners; ++j) {
        x[j] = static_cast<int>(scale * xy[2 * j] + .5);
        y[j] = static_cast<int>(scale * xy[2 * j + 1] + .5);
    }
    x[corners] = x[0];
    y[corners] = y[0];
    std::vector<std::uint32_t> crossings;
    int last_u = 0, last_v = 0;
    bool begun = false;
    const auto visit = [&](int u, int v) {
        if (begun && u != last_u) {
            const double column = ((u < last_u ? u : u - 1) + .5) / scale - .5;
            if (std::floor(column) == column && column >= 0 && column <= width - 1.0) {
                double row = ((v < last_v ? v : last_v) + .5) / scale - .5;
                row = std::ceil(std::clamp(row, 0.0, double{1} * height));
                crossings.push_back(static_cast<std::uint32_t>(column) * height +
                                    static_cast<std::uint32_t>(row));
            }
        }
        begun = true;
        last_u = u;
        last_v = v;
    };
    for (std::size_t j = 0; j < corners; ++j) {
        int from_x = x[j], to_x = x[j + 1], from_y = y[j], to_y = y[j + 1];
        const int across = std::abs(to_x - from_x), down = std::abs(to_y - from_y);
        // Each side is walked from its left, or upper, end, so that both ways give the same points.
        const bool flat = across >= down;
        const bool flip = flat ? from_x > to_x : from_y > to_y;
        if (flip) {
            std::swap(from_x, to_x);
            std::swap(from_y, to_y);
        }
        const int steps = flat ? across : down;
        const double slope = steps == 0 ? 0
                             : flat     ? static_cast<double>(to_y - from_y) / steps
                                        : static_cast<double>(to_x - from_x) / steps;
        for (int d = 0; d <= steps; ++d) {
            const int t = flip ? steps - d : d;
            if (flat)
                visit(t + from_x, static_cast<int>(from_y + slope * t + .5));
            else
                visit(static_cast<int>(from_x + slope * t + .5), t + from_y);
        }
    }
    crossings.push_back(height * width);
    std::sort(crossings.begin(), crossings.end());
    // From places to lengths; places that stand twice cancel out.
    std::vector<std::uint32_t> runs;
    std::uint32_t before = 0;
    bool joins = false;
    for (std::size_t j = 0; j < crossings.size(); ++j) {
        const std::uint32_t length = crossings[j] - before;
        before = crossings[j];
        if (joins) {
            runs.back() += length;
            joins = false;
        } else if (length > 0 || j == 0) {
            runs.push_back(length);
        } else {
            joins = true;
        }
    }
    return runs;
}

std::vector<std::uint32_t> joined(Runs a, Runs b) {
    std::vector<std::uint32_t> runs;
    std::size_t i = 0, j = 0;
    std::uint32_t left = a.empty() ? 0 : a[0], right = b.empty() ? 0 : b[0], length = 0;
    bool in_a = false, in_b = false, in = false;
    while (i < a.size() || j < b.size()) {
        const std::uint32_t step = i == a.size()   ? right
                                   : j == b.size() ? left
                                                   : std::min(left, right);
        const bool inside = in_a || in_b;
        if (step > 0 && inside != in) {
            runs.push_back(length);
            length = 0;
            in = inside;
        }
        length += step;
        if (i < a.size() && (left -= step) == 0) {
            in_a = !in_a;
            left = ++i < a.size() ? a[i] : 0;
        }
        if (j < b.size() && (right -= step) == 0) {
            in_b = !in_b;
            right = ++j < b.size() ? b[j] : 0;
        }
    }
    runs.push_back(length);
    return runs;
}

std::uint64_t area(Runs mask) {
    std::uint64_t sum = 0;
    for (std::size_t i = 1; i < mask.size(); i += 2) sum += mask[i];
    return sum;
}

Bounds bounds(Runs mask, std::uint32_t height) {
    std::uint32_t left = 0, right = 0, top = height, bottom = 0, at = 0;
    bool any = false;
    for (std::size_t i = 0; i < mask.size(); ++i) {
        const std::uint32_t first = at;
        at += mask[i];
        if (i % 2 == 0 || mask[i] == 0) continue;
        const std::uint32_t last = at - 1;
        const std::uint32_t column = first / height, end = last / height;
        left = any ? std::min(left, column) : column;
        right = std::max(right, end);
        if (column < end) {  // from one column into the next: all rows
            top = 0;
            bottom = height - 1;
        } else {
            top = std::min(top, first % height);
            bottom = std::max(bottom, last % height);
        }
        any = true;
    }
    if (!any) return {};
    return {left, top, right - left + 1, bottom - top + 1};
}

std::uint64_t common(Runs a, Runs b) {
    std::uint64_t sum = 0, a_end = 0, b_end = 0, a_start = 0, b_start = 0;
    std::size_t i = 0, j = 0;
    // The next pieces of either that are inside.
    const auto next = [](Runs runs, std::size_t& at, std::uint64_t& start, std::uint64_t& end) {
        if (at + 1 >= runs.size()) return false;
        start = end + runs[at];
        end = start + runs[at + 1];
        at += 2;
        return true;
    };
    bool more = next(a, i, a_start, a_end) && next(b, j, b_start, b_end);
    while (more) {
        const std::uint64_t first = std::max(a_start, b_start), last = std::min(a_end, b_end);
        if (last > first) sum += last - first;
        more = a_end < b_end ? next(a, i, a_start, a_end) : next(b, j, b_start, b_end);
    }
    return sum;
}

}  // namespace cranfield::masks
