// The graded family of the SHREC contest.
#include "kernels/table.hpp"
#include "kernels/ties.hpp"

namespace cranfield {

namespace {

// The mean over ranks 1 to NG of the share found of what an ideal ranking would show down to that
// rank, where an item counts as found from the grade on that the ideal ranking has there.
template <class Found>
double dynamic_recall(View& v, const Params& p, const Found& found) {
    double sum = 0, i = 1;
    for (double level = p[0]; level >= 1; --level) {
        const double last = v.relevant(level).total;
        for (; i <= last; ++i) sum += found(level, i) / i;
    }
    return i > 1 ? sum / (i - 1) : undefined;
}

double tier_depth(View& v, const Params& p) {
    return std::min(v.retrieved(), depth_of(0, p[1], v.relevant(p[0]).total));
}

}  // namespace

namespace kernels {

// Parameters: level of relevance, multiple of the number of relevant items.
double tier(View& v, const Params& p) {
    const Relevant& relevant = v.relevant(p[0]);
    if (relevant.total == 0) return undefined;
    const double depth = tier_depth(v, p);
    return depth > 0 ? relevant.within(depth) / depth : 0.0;
}

// Average precision over the relevant items that were retrieved.
double shrec_ap(View& v, const Params& p) {
    const Relevant& relevant = v.relevant(p[0]);
    if (relevant.total == 0) return undefined;
    if (relevant.ranks.empty()) return 0.0;
    double sum = 0, found = 0;
    for (const double rank : relevant.ranks) sum += ++found / rank;
    return sum / found;
}

// The only parameter is the number of levels: grades from there on down to 1 are relevant.
double adr(View& v, const Params& p) {
    return dynamic_recall(v, p,
                          [&](double level, double i) { return v.relevant(level).within(i); });
}

}  // namespace kernels

namespace expected {

double tier(View& v, const Params& p) {
    if (v.relevant(p[0]).total == 0) return undefined;
    const double depth = tier_depth(v, p);
    return depth > 0 ? relevant_within(v, p[0], depth) / depth : 0.0;
}

double shrec_ap(View& v, const Params& p) {
    const Relevant& relevant = v.relevant(p[0]);
    if (relevant.total == 0) return undefined;
    if (relevant.ranks.empty()) return 0.0;
    const Params everything{p[0], std::numeric_limits<double>::infinity()};
    return average_precision(v, everything) * relevant.total / relevant.retrieved();
}

double adr(View& v, const Params& p) {
    return dynamic_recall(v, p,
                          [&](double level, double i) { return relevant_within(v, level, i); });
}

}  // namespace expected
}  // namespace cranfield
