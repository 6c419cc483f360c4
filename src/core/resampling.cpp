#include "resampling.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "wide.hpp"

namespace cranfield {

namespace {

// One value in so many is looked at to guess where the one searched for lies.
constexpr std::size_t sample_step = 16;
constexpr std::size_t least_to_sample = 1024;

CRANFIELD_WIDE void ratios(const double* squares, const double* a, const double* b,
                           std::size_t count, double topics, double noise, double own,
                           double* answer) {
    const double less_one = std::max(topics - 1.0, 1.0);
    for (std::size_t i = 0; i < count; ++i) {
        const double mean = a[i] - b[i];
        double variance = squares[i] / topics - mean * mean;
        variance = variance <= noise ? own : variance / less_one;
        answer[i] = mean * std::fabs(mean) / variance;
    }
}

CRANFIELD_WIDE void count_bars(double* values, std::size_t count, const Bars& bars, Held& held) {
    std::int64_t seen = 0, against = 0, two = 0;
    const double turn = bars.turn, low = bars.low, high = bars.high;
    for (std::size_t i = 0; i < count; ++i) {
        const double value = turn * values[i], size = std::fabs(value);
        seen += value >= low;
        against += value <= high;
        two += size >= low;
        values[i] = size;
    }
    held.seen = seen;
    held.against = against;
    held.two = two;
}

// The value that `rank` values reach: the great ones are picked out by a guess that is a little
// low, so that few are left to be put in order.
double reached(double* values, std::size_t count, std::size_t rank) {
    const auto select = [rank](std::vector<double>& among) {
        std::nth_element(among.begin(), among.begin() + static_cast<std::ptrdiff_t>(rank - 1),
                         among.end(), std::greater<>());
        return among[rank - 1];
    };
    if (count >= least_to_sample) {
        std::vector<double> great;
        for (std::size_t i = 0; i < count; i += sample_step) great.push_back(values[i]);
        const std::size_t place = std::min(great.size() - 1, (rank + rank / 2) / sample_step + 8);
        std::nth_element(great.begin(), great.begin() + static_cast<std::ptrdiff_t>(place),
                         great.end(), std::greater<>());
        const double guess = great[place];
        great.resize(count);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count; ++i) {
            great[kept] = values[i];
            kept += values[i] >= guess;
        }
        if (kept >= rank) {
            great.resize(kept);
            return select(great);
        }
    }
    std::vector<double> all(values, values + count);
    return select(all);
}

CRANFIELD_WIDE std::int64_t raise(const double* a, const double* b, std::size_t draws, double scale,
                                  bool two_tailed, double bar, double* largest) {
    std::int64_t hits = 0;
    const double ends = two_tailed ? -1.0 : 1.0;
    for (std::size_t i = 0; i < draws; ++i) {
        const double sum = (b == nullptr ? a[i] : a[i] - b[i]) * scale;
        // Of a statistic and its opposite the greater one, or twice the same.
        const double other = ends * sum;
        const double value = sum > other ? sum : other;
        const double most = value > largest[i] ? value : largest[i];
        hits += most >= bar;
        largest[i] = most;
    }
    return hits;
}

}  // namespace

void signed_squares(const BootstrapPairs& pairs, std::size_t pair, double* answer) {
    if (pairs.flat[pair] != 0) {
        std::fill(answer, answer + pairs.draws, 0.0);
        return;
    }
    const auto row = [&](std::size_t side) {
        return pairs.means + static_cast<std::size_t>(pairs.runs[2 * pair + side]) * pairs.draws;
    };
    ratios(pairs.squares + pair * pairs.draws, row(0), row(1), pairs.draws, pairs.topics,
           pairs.noise[pair], pairs.own[pair], answer);
}

Held hold(double* values, std::size_t count, const Bars& bars, std::size_t rank) {
    Held held{0, 0, 0, std::nan("")};
    count_bars(values, count, bars, held);
    if (rank > 0) held.reached = reached(values, count, rank);
    return held;
}

void step_down(const StepDown& family, std::int64_t* hits, double* largest) {
    for (std::size_t pair = 0; pair < family.pairs; ++pair) {
        const std::int64_t a = family.runs[2 * pair], b = family.runs[2 * pair + 1];
        const double* first = family.sums + static_cast<std::size_t>(a) * family.draws;
        const double* second =
            b < 0 ? nullptr : family.sums + static_cast<std::size_t>(b) * family.draws;
        hits[pair] = raise(first, second, family.draws, family.scale[pair], family.two_tailed,
                           family.bar[pair], largest);
    }
}

std::vector<std::int64_t> count_places(const double* means, std::size_t draws, std::size_t runs,
                                       double slack) {
    std::vector<std::int64_t> counts(runs * runs);
    std::vector<std::uint32_t> order(runs);
    for (std::size_t draw = 0; draw < draws; ++draw) {
        const double* row = means + draw * runs;
        // The order of the draw before is as good a start as any.
        if (draw == 0) std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(),
                  [row](std::uint32_t x, std::uint32_t y) { return row[x] > row[y]; });
        std::size_t place = 0;
        for (std::size_t i = 0; i < runs; ++i) {
            if (i > 0 && row[order[i - 1]] - row[order[i]] > slack) place = i;
            ++counts[order[i] * runs + place];
        }
    }
    return counts;
}

std::int64_t dominance(const double* x, const double* y, std::size_t size) {
    std::int64_t difference = 0;
    std::size_t below = 0, upto = 0;
    for (std::size_t i = 0; i < size; ++i) {
        while (below < size && y[below] < x[i]) ++below;
        upto = std::max(upto, below);
        while (upto < size && y[upto] <= x[i]) ++upto;
        difference += static_cast<std::int64_t>(below) - static_cast<std::int64_t>(size - upto);
    }
    return difference;
}

}  // namespace cranfield
