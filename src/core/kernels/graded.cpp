// Extensions of Cranfield's own: measures of binary relevance under graded and incomplete
// judgements. No source defines them.
#include <algorithm>

#include "kernels/table.hpp"

namespace cranfield::kernels {

namespace {

constexpr double most_levels = 10000;

// The mean of a measure over the grades from which an item may count as relevant, `first` and
// those up to `last`, of those that any item of the topic reaches.
template <class AtLevel>
double over_levels(double first, double last, const AtLevel& value) {
    const double steps = std::min(last - first, most_levels);
    double sum = 0, defined = 0;
    for (double step = 0; step <= steps; ++step) {
        const double found = value(first + step, static_cast<std::size_t>(step));
        if (std::isnan(found)) continue;
        sum += found;
        ++defined;
    }
    return defined > 0 ? sum / defined : undefined;
}

}  // namespace

// Parameters: the lowest level, then for it and each level above the largest number of items that
// are relevant there in any topic.
double graded_nmrr(View& v, const Params& p) {
    if (p.size() < 2 || !std::isfinite(p[0])) return undefined;
    const double last = p[0] + static_cast<double>(p.size()) - 2;
    return over_levels(p[0], last, [&](double level, std::size_t step) {
        return nmrr(v, Params{level, p[1 + step]});
    });
}

// Parameters of all three: the lowest level, size of the collection, policy for missing items, and
// the highest level.
double graded_mnro(View& v, const Params& p) {
    return over_levels(p[0], p[3], [&](double level, std::size_t) {
        return mnro(v, Params{level, p[1], p[2], 0.0, 0.0});
    });
}

double graded_norm_recall(View& v, const Params& p) {
    return over_levels(p[0], p[3], [&](double level, std::size_t) {
        return norm_recall(v, Params{level, p[1], p[2], 1.0});
    });
}

double graded_norm_precision(View& v, const Params& p) {
    return over_levels(p[0], p[3], [&](double level, std::size_t) {
        return norm_precision(v, Params{level, p[1], p[2]});
    });
}

// MNRO of the ranking without the items that nobody judged, in a collection of those that were.
// Relevant items that were not retrieved stand on its last ranks.
double judged_mnro(View& v, const Params& p) {
    const double total = v.relevant(p[0]).total;
    if (total == 0) return undefined;
    const double size = static_cast<double>(v.judgements().count_at_least(0.0));
    const double K = total / size >= 0.01 ? 4.0 * total : 0.04 * size;
    const auto order = [K](double rank) {
        return std::exp(-9.3668 * std::exp(-5.2074 * (rank - 1.0) / (K - 1.0)));
    };
    double sum = 0, rank = 0, found = 0;
    for (const Hit& hit : v.hits()) {
        if (hit.grade < 0) continue;
        ++rank;
        if (hit.grade < p[0]) continue;
        ++found;
        if (found < rank) sum += order(rank);
    }
    for (double at = size - (total - found) + 1; at <= size; ++at) {
        ++found;
        if (found < at) sum += order(at);
    }
    return sum / total;
}

}  // namespace cranfield::kernels
