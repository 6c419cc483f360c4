// Measures of image retrieval: 0 is perfect, 1 is bad (Chatzichristofis et al., eq. 5-19).
#include "kernels/ranks.hpp"
#include "kernels/table.hpp"

namespace cranfield::kernels {

namespace {

// NMRR's K, and the sum of the ranks of the relevant items, where those below the first K,
// retrieved or not, count as if at rank 1.25 K.
struct NearRanks {
    double total, K, sum;

    // Parameters: level of relevance, largest number of relevant items of any topic.
    NearRanks(View& v, const Params& p)
        : total(v.relevant(p[0]).total),
          K(std::min((total > 50 ? 2.0 : 4.0) * total, 2.0 * p[1])),
          sum(0) {
        double counted = 0;
        const RankQuery retrieved(
            Params{p[0], size_unknown, static_cast<double>(Missing::optimist)});
        for_each_rank(v, retrieved, [&](double rank, double last, double count) {
            if (rank > K || last > v.retrieved()) return;
            sum += rank * count;
            counted += count;
        });
        sum += (total - counted) * 1.25 * K;
    }
};

}  // namespace

double average_rank(View& v, const Params& p) {
    const NearRanks near(v, p);
    return near.total == 0 ? undefined : near.sum / near.total;
}

double modified_rank(View& v, const Params& p) {
    const NearRanks near(v, p);
    return near.total == 0 ? undefined : near.sum / near.total - 0.5 * (1.0 + near.total);
}

double nmrr(View& v, const Params& p) {
    const NearRanks near(v, p);
    if (near.total == 0) return undefined;
    const double best = 0.5 * (1.0 + near.total);
    return (near.sum / near.total - best) / (1.25 * near.K - best);
}

// The fourth parameter says which of the relevant items, counted from the first.
double rank_of(View& v, const Params& p) {
    RankQuery query(p);
    if (v.relevant(query.level).total < p[3]) return undefined;
    // Where the item was retrieved, nothing hangs on those that were not.
    if (v.relevant(query.level).retrieved() >= p[3]) query.missing = Missing::optimist;
    double before = 0, value = undefined;
    const double signal = for_each_rank(v, query, [&](double rank, double, double count) {
        if (before < p[3] && before + count >= p[3]) value = rank;
        before += count;
    });
    return signal != 0 ? signal : value;
}

double nar(View& v, const Params& p) {
    const RankQuery query(p);
    const double total = v.relevant(query.level).total;
    if (total == 0) return undefined;
    double sum = 0;
    const double signal =
        for_each_rank(v, query, [&](double rank, double, double count) { sum += rank * count; });
    if (signal != 0) return signal;
    return (sum - 0.5 * total * (total + 1.0)) / (query.size * total);
}

// The fourth parameter is 1 for the letter of eq. 14 and 15, which multiply by the number of
// relevant items twice. The fifth is 0 for the K of eq. 14, 4 times the relevant items, and the
// largest number of relevant items of any topic for NMRR's, where relevant items are not rare.
double mnro(View& v, const Params& p) {
    const RankQuery query(p);
    const double total = v.relevant(query.level).total;
    if (total == 0) return undefined;
    const double rare = 0.04 * query.size * (p[3] == 1.0 ? total : 1.0);
    const double usual =
        p[4] > 0 ? std::min((total > 50 ? 2.0 : 4.0) * total, 2.0 * p[4]) : 4.0 * total;
    const double K = total / query.size >= 0.01 ? usual : rare;
    double sum = 0, found = 0;
    const double signal = for_each_rank(v, query, [&](double rank, double last, double count) {
        found += count;
        // Items above which only relevant ones stand are in their place.
        if (found == last) return;
        sum += count * std::exp(-9.3668 * std::exp(-5.2074 * (rank - 1.0) / (K - 1.0)));
    });
    return signal != 0 ? signal : sum / total;
}

}  // namespace cranfield::kernels
