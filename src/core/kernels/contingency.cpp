// Counts of the contingency table of retrieval and relevance, and their ratios (Rocchio, 5.1-5.8).
#include "kernels/table.hpp"
#include "kernels/ties.hpp"

namespace cranfield {

namespace {

constexpr int weights = 7;

// Relevant items among those seen, items seen, relevant items, and how many were to be seen: down
// to a cutoff, or to a multiple of the number of relevant items.
struct Cells {
    double found, seen, relevant, depth;

    // Weights of the four cells, of the number of relevant items that so many places and so many
    // items could hold, and of the number one.
    double weighed(const double* weight) const {
        const double cells[weights] = {
            found, seen, relevant, depth, std::min(depth, relevant), std::min(seen, relevant), 1.0};
        double sum = 0;
        for (int i = 0; i < weights; ++i)
            if (weight[i] != 0) sum += weight[i] * cells[i];
        return sum;
    }
};

// Parameters: level of relevance, cutoff, multiple (negative for the cutoff), then weights.
Cells cells_of(View& v, const Params& p) {
    const Relevant& relevant = v.relevant(p[0]);
    const double depth = depth_of(p[1], p[2], relevant.total);
    const double found =
        v.ranking().ties.empty() ? relevant.within(depth) : relevant_within(v, p[0], depth);
    return {found, std::min(depth, v.retrieved()), relevant.total, depth};
}

}  // namespace

double depth_of(double cutoff, double multiple, double relevant) {
    if (multiple < 0) return cutoff;
    return multiple == 1.0 ? relevant : std::floor(multiple * relevant + 0.9);
}

namespace kernels {

double counts(View& v, const Params& p) { return cells_of(v, p).weighed(p.data() + 3); }

double counts_ratio(View& v, const Params& p) {
    const Cells cells = cells_of(v, p);
    const double below = cells.weighed(p.data() + 3 + weights);
    return below > 0 ? cells.weighed(p.data() + 3) / below : undefined;
}

double judged_count(View& v, const Params& p) {
    const double depth = std::min(p[0], v.retrieved());
    double judged = 0;
    for_each_group(v.ranking(), [&](double first, double size, std::size_t begin, std::size_t end) {
        judged += static_cast<double>(end - begin) * positions_within(depth, first, size) / size;
    });
    return judged;
}

}  // namespace kernels
}  // namespace cranfield
