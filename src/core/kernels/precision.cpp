// Measures of binary relevance: counts, precision and recall, average precision, sets.
// The first parameter is always the level from which a grade counts as relevant.
#include <algorithm>
#include <limits>

#include "kernels/table.hpp"

namespace cranfield::kernels {

double num_ret(View& v, const Params&) { return v.retrieved(); }

double num_rel(View& v, const Params& p) { return v.relevant(p[0]).total; }

double num_rel_ret(View& v, const Params& p) { return v.relevant(p[0]).retrieved(); }

double num_nonrel_judged_ret(View& v, const Params& p) {
    return static_cast<double>(std::count_if(v.hits().begin(), v.hits().end(), [&](const Hit& h) {
        return h.grade >= 0 && h.grade < p[0];
    }));
}

double precision_at(View& v, const Params& p) { return v.relevant(p[0]).within(p[1]) / p[1]; }

double recall_at(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    return rel.total > 0 ? rel.within(p[1]) / rel.total : 0.0;
}

double success_at(View& v, const Params& p) {
    return v.relevant(p[0]).within(p[1]) > 0 ? 1.0 : 0.0;
}

double relative_precision_at(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    return rel.total > 0 ? rel.within(p[1]) / std::min(p[1], rel.total) : 0.0;
}

double reciprocal_rank(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    return !rel.ranks.empty() && rel.ranks.front() <= p[1] ? 1.0 / rel.ranks.front() : 0.0;
}

namespace {
double sum_of_precisions(const Relevant& rel, double cutoff) {
    double sum = 0, found = 0;
    for (const std::uint32_t rank : rel.ranks) {
        if (rank > cutoff) break;
        sum += ++found / rank;
    }
    return sum;
}
}  // namespace

double average_precision(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    return rel.total > 0 ? sum_of_precisions(rel, p[1]) / rel.total : 0.0;
}

double yaap(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    const double sum = sum_of_precisions(rel, std::numeric_limits<double>::infinity());
    return std::log((1.0 + sum) / (1.0 + rel.total - sum));
}

// Precision after `multiple` times as many items as there are relevant ones.
double r_precision(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    const double depth = depth_of(0, p[1], rel.total);
    return depth > 0 ? rel.within(depth) / depth : 0.0;
}

double set_precision(View& v, const Params& p) {
    return v.retrieved() > 0 ? v.relevant(p[0]).retrieved() / v.retrieved() : 0.0;
}

double set_recall(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    return rel.total > 0 ? rel.retrieved() / rel.total : 0.0;
}

double set_relative_precision(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    const double best = std::min(rel.total, v.retrieved());
    return best > 0 ? rel.retrieved() / best : 0.0;
}

double set_ap(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    const double found = rel.retrieved();
    return v.retrieved() > 0 && rel.total > 0 ? found * found / (v.retrieved() * rel.total) : 0.0;
}

// p[1] is the square of beta; where that is beyond all numbers only recall counts.
double set_f(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    if (rel.ranks.empty()) return 0.0;
    const double precision = rel.retrieved() / v.retrieved();
    const double recall = rel.retrieved() / rel.total;
    if (std::isinf(p[1])) return recall;
    return (p[1] + 1.0) * precision * recall / (p[1] * precision + recall);
}

// p[1..4] weigh retrieved relevant, retrieved other, missed relevant and rejected other items;
// p[5] is the size of the collection.
double utility(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    const double found = rel.retrieved(), retrieved = v.retrieved();
    return p[1] * found + p[2] * (retrieved - found) + p[3] * (rel.total - found) +
           p[4] * (p[5] + found - retrieved - rel.total);
}

namespace {
// Interpolated precision once `needed` relevant items are found: the best precision from there on.
double interpolated(const Relevant& rel, double needed) {
    if (needed > rel.retrieved()) return 0.0;
    double best = 0;
    for (std::size_t i = needed > 0 ? static_cast<std::size_t>(needed) - 1 : 0;
         i < rel.ranks.size(); ++i)
        best = std::max(best, static_cast<double>(i + 1) / rel.ranks[i]);
    return best;
}

// How many relevant items a recall level asks for. By its definition a level is reached when the
// share found is at least as large (version 0); version 10 of trec_eval rounds the product,
// versions before it cut it off after adding 0.9.
double items_for(double recall, double total, double version) {
    if (version == 0) {
        // The quotient decides: it is rounded as the level itself was, the product is not.
        double needed = std::floor(recall * total);
        while (needed < total && needed / total < recall) ++needed;
        while (needed > 0 && (needed - 1) / total >= recall) --needed;
        return needed;
    }
    return version < 10 ? std::floor(recall * total + 0.9) : std::round(recall * total);
}
}  // namespace

double interpolated_at(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    return interpolated(rel, items_for(p[1], rel.total, p[2]));
}

double interpolated_mean(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    double sum = 0;
    for (std::size_t i = p.size(); i-- > 2;)
        sum += interpolated(rel, items_for(p[i], rel.total, p[1]));
    return sum / static_cast<double>(p.size() - 2);
}

double binary_g(View& v, const Params& p) {
    const Relevant& rel = v.relevant(p[0]);
    double sum = 0;
    for (std::size_t i = 0; i < rel.ranks.size(); ++i) sum += 1.0 / log2_of(1 + rel.ranks[i] - i);
    return rel.total > 0 ? sum / rel.total : 0.0;
}

}  // namespace cranfield::kernels
