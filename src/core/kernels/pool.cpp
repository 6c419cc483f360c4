// Measures that look at who was judged: preference of judged items, inferred precision, coverage.
// As in trec_eval, a negative grade stands for an item of the pool that nobody judged.
#include <algorithm>
#include <vector>

#include "kernels/table.hpp"

namespace cranfield::kernels {

double bpref(View& v, const Params& p) {
    const double total = v.relevant(p[0]).total;
    if (total == 0) return 0.0;
    const auto& all = v.judgements();
    const double others = static_cast<double>(all.count_at_least(0.0)) - total;
    const double bound = std::min(others, total);
    double sum = 0, others_above = 0;
    for (const Hit& hit : v.hits()) {
        if (hit.grade < 0) continue;
        if (hit.grade < p[0])
            ++others_above;
        else
            sum += others_above > 0 ? 1.0 - std::min(others_above, total) / bound : 1.0;
    }
    return sum / total;
}

double inferred_ap(View& v, const Params& p) {
    constexpr double epsilon = 0.00001;
    const double total = v.relevant(p[0]).total;
    if (total == 0) return 0.0;
    double sum = 0, relevant = 0, others = 0, unjudged = 0;
    for (const Hit& hit : v.hits()) {
        if (hit.grade < 0) {
            ++unjudged;
        } else if (hit.grade < p[0]) {
            ++others;
        } else {
            const double above = hit.rank - 1;
            if (above == 0) {
                sum += 1.0;
            } else {
                sum += 1.0 / (above + 1.0) +
                       (above / (above + 1.0)) * ((relevant + others + unjudged) / above) *
                           ((relevant + epsilon) / (relevant + others + 2 * epsilon));
            }
            ++relevant;
        }
    }
    return sum / total;
}

namespace {

// A grade that carries its stratum: whole grades lose a small fraction for each stratum, so that
// they sort among each other as they did before.
struct Stratified {
    double grade;
    std::size_t stratum;

    explicit Stratified(double code)
        : grade(std::ceil(code)),
          stratum(static_cast<std::size_t>(std::lround((std::ceil(code) - code) * 1048576.0))) {}
};

// Items of one stratum, and among them those judged and those relevant.
struct Stratum {
    double items = 0, judged = 0, relevant = 0;

    void add(double grade, double level) {
        ++items;
        judged += grade >= 0;
        relevant += grade >= level;
    }
};

}  // namespace

// Each stratum was sampled at a rate of its own: a relevant item stands for as many as its stratum
// has items for each judged one, and what stands above it is inferred stratum by stratum.
double extended_inferred_ap(View& v, const Params& p) {
    constexpr double epsilon = 0.00001;
    std::vector<Stratum> all, above;
    for (const double code : v.judgements().descending()) {
        const Stratified item(code);
        if (item.stratum >= all.size()) all.resize(item.stratum + 1);
        all[item.stratum].add(item.grade, p[0]);
    }
    above.resize(all.size());
    double relevant = 0, sum = 0;
    for (const Stratum& s : all)
        if (s.judged > 0) relevant += s.relevant * s.items / s.judged;
    if (relevant == 0) return 0.0;
    for (const Hit& hit : v.hits()) {
        const Stratified item(hit.grade);
        if (item.grade >= p[0] && item.grade >= 0) {
            double expected = 1;
            for (const Stratum& s : above)
                expected += s.items * (s.relevant + epsilon) / (s.judged + 2 * epsilon);
            const Stratum& own = all[item.stratum];
            sum += own.items / own.judged * expected / hit.rank;
        }
        above[item.stratum].add(item.grade, p[0]);
    }
    return sum / relevant;
}

// The share of the first k items that is judged; a shorter ranking is judged by what it has.
double judged_at(View& v, const Params& p) {
    const double depth = std::min(p[0], v.retrieved());
    if (depth == 0) return 0.0;
    const auto judged = std::count_if(v.hits().begin(), v.hits().end(),
                                      [&](const Hit& h) { return h.rank <= depth; });
    return static_cast<double>(judged) / depth;
}

double unjudged_at(View& v, const Params& p) {
    const double depth = std::min(p[0], v.retrieved());
    const auto judged = std::count_if(v.hits().begin(), v.hits().end(), [&](const Hit& h) {
        return h.rank <= depth && h.grade >= 0;
    });
    return (depth - static_cast<double>(judged)) / p[0];
}

double grade_at(View& v, const Params& p) {
    for (const Hit& hit : v.hits())
        if (hit.rank == p[0]) return hit.grade;
    return not_judged;
}

}  // namespace cranfield::kernels
