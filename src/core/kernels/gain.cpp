// Measures of graded relevance: cumulated gain with and without discount, rank-biased
// precision, expected reciprocal rank, and trec_eval's experimental relatives.
#include "kernels/gain.hpp"

#include <algorithm>
#include <functional>

#include "kernels/table.hpp"

namespace cranfield {

double Gains::of(double grade) const {
    if (!(grade >= 0)) return 0.0;
    for (std::size_t i = 3; i + 1 < p_.size(); i += 2)
        if (p_[i] == grade) return p_[i + 1];
    if (p_[1] == exponential) return std::exp2(grade) - 1.0;
    if (p_[1] == binary) return grade > 0 ? 1.0 : 0.0;
    return grade;
}

double Gains::discounted(double gain, std::uint32_t rank) const {
    if (p_[2] == none) return gain;
    if (p_[2] == jarvelin_kekalainen) return rank < 2 ? gain : gain / log2_of(rank);
    return gain / log2_of(rank + 1);
}

void Gains::ideal(const TopicJudgements& judgements, std::vector<double>& gains) const {
    gains.clear();
    for (const double grade : judgements.descending()) {
        const double gain = of(grade);
        if (gain > 0) gains.push_back(gain);
    }
    // Replaced gains need not follow the order of the grades.
    if (p_.size() > 3) std::sort(gains.begin(), gains.end(), std::greater<>());
}

double Gains::ideal_sum(const std::vector<double>& gains, double k) const {
    double total = 0;
    for (std::size_t i = 0; i < gains.size() && static_cast<double>(i) < k; ++i)
        total += discounted(gains[i], static_cast<std::uint32_t>(i + 1));
    return total;
}

double Gains::sum(const std::vector<Hit>& hits, double k) const {
    double total = 0;
    for (const Hit& hit : hits) {
        if (hit.rank > k) break;
        const double gain = of(hit.grade);
        if (gain != 0) total += discounted(gain, hit.rank);
    }
    return total;
}

namespace kernels {

double dcg(View& v, const Params& p) {
    const Gains gains(p);
    return gains.sum(v.hits(), gains.cutoff());
}

double ideal_dcg(View& v, const Params& p) {
    const Gains gains(p);
    std::vector<double> ideal;
    gains.ideal(v.judgements(), ideal);
    return gains.ideal_sum(ideal, gains.cutoff());
}

double ndcg(View& v, const Params& p) {
    const double best = ideal_dcg(v, p);
    return best > 0 ? dcg(v, p) / best : 0.0;
}

// nDCG averaged over the relevant items: at each one retrieved, and at the end for the rest.
double ndcg_rel(View& v, const Params& p) {
    const Gains gains(p);
    std::vector<double> ideal;
    gains.ideal(v.judgements(), ideal);
    if (ideal.empty()) return 0.0;
    double sum = 0, dcg = 0, best = 0, found = 0;
    std::size_t filled = 0;
    for (const Hit& hit : v.hits()) {
        const double gain = gains.of(hit.grade);
        if (gain != 0) dcg += gains.discounted(gain, hit.rank);
        for (; filled < ideal.size() && filled < hit.rank; ++filled)
            best += gains.discounted(ideal[filled], static_cast<std::uint32_t>(filled + 1));
        if (gain > 0) {
            sum += dcg / best;
            ++found;
        }
    }
    const double all = static_cast<double>(ideal.size());
    sum += (all - found) * dcg / gains.ideal_sum(ideal, all);
    return sum > 0 ? sum / all : 0.0;
}

// nDCG averaged over the ranks at which the ideal ranking changes its gain, and the last one; 0
// where no item reaches the level, which comes before the parameters of the gains.
double rndcg(View& v, const Params& p) {
    if (v.relevant(p[0]).total == 0) return 0.0;
    const Params of_gains(p.begin() + 1, p.end());
    const Gains gains(of_gains);
    std::vector<double> ideal;
    gains.ideal(v.judgements(), ideal);
    if (ideal.empty()) return 0.0;
    const double all = static_cast<double>(ideal.size());
    double sum = 0, points = 0;
    for (std::size_t i = 1; i <= ideal.size(); ++i) {
        if (i < ideal.size() && ideal[i] == ideal[i - 1]) continue;
        const double k = static_cast<double>(i);
        sum += gains.sum(v.hits(), k) / gains.ideal_sum(ideal, k);
        ++points;
    }
    if (v.retrieved() > all + 1) {
        sum += gains.sum(v.hits(), v.retrieved()) / gains.ideal_sum(ideal, all);
        ++points;
    }
    return sum / points;
}

// Each gain is divided by the logarithm of what the ranking is behind the ideal one at its rank.
double normalized_g(View& v, const Params& p) {
    const Gains gains(p);
    std::vector<double> ideal;
    gains.ideal(v.judgements(), ideal);
    double sum = 0, gained = 0, cost = 0;
    std::uint32_t at = 0;
    for (const Hit& hit : v.hits()) {
        for (; at < hit.rank; ++at) cost += at < ideal.size() ? std::max(ideal[at], 1.0) : 1.0;
        const double gain = gains.of(hit.grade);
        gained += gain;
        if (gain != 0) sum += gain / std::log2(2 + cost - gained);
    }
    double best = 0;
    for (const double gain : ideal) best += gain;
    return best > 0 ? sum / best : 0.0;
}

// Parameters: level of relevance (binary gain), persistence, cutoff.
double rbp(View& v, const Params& p) {
    double sum = 0, weight = 1;
    std::uint32_t rank = 1;
    for (const std::uint32_t at : v.relevant(p[0]).ranks) {
        if (at > p[2]) break;
        for (; rank < at; ++rank) weight *= p[1];
        sum += weight;
    }
    return (1.0 - p[1]) * sum;
}

// Gains are brought to [0, 1] by the topic's largest when it exceeds 1. Parameters: persistence,
// cutoff, then pairs of a grade and its gain.
double rbp_graded(View& v, const Params& p) {
    Params as_gains{0, Gains::linear, Gains::none};
    as_gains.insert(as_gains.end(), p.begin() + 2, p.end());
    const Gains gains(as_gains);
    double low = 0, high = 0;
    for (const double grade : v.judgements().descending()) {
        low = std::min(low, gains.of(grade));
        high = std::max(high, gains.of(grade));
    }
    const bool scaled = low < 0 || high > 1;
    double sum = 0, weight = 1;
    std::uint32_t rank = 1;
    for (const Hit& hit : v.hits()) {
        if (hit.rank > p[1]) break;
        if (hit.grade < 0) continue;
        for (; rank < hit.rank; ++rank) weight *= p[0];
        const double gain = gains.of(hit.grade);
        sum += (scaled ? (gain - low) / (high - low) : gain) * weight;
    }
    return (1.0 - p[0]) * sum;
}

// What rank-biased precision could still gain: unjudged items, and everything below the ranking.
double rbp_residual(View& v, const Params& p) {
    double sum = 0, weight = 1, unjudged = 0;
    auto hit = v.hits().begin();
    for (std::uint32_t rank = 1; rank <= v.retrieved(); ++rank, weight *= p[0]) {
        const bool judged = hit != v.hits().end() && hit->rank == rank && hit->grade >= 0;
        if (hit != v.hits().end() && hit->rank == rank) ++hit;
        if (judged) continue;
        ++unjudged;
        sum += weight;
    }
    return unjudged > 0 ? weight + (1.0 - p[0]) * sum : 0.0;
}

// Parameters: cutoff, largest grade of the scale.
double err(View& v, const Params& p) {
    double sum = 0, still_looking = 1;
    for (const Hit& hit : v.hits()) {
        if (hit.rank > p[0]) break;
        if (!(hit.grade > 0)) continue;
        const double satisfied = (std::exp2(hit.grade) - 1.0) / std::exp2(p[1]);
        sum += still_looking * satisfied / hit.rank;
        still_looking *= 1.0 - satisfied;
    }
    return sum;
}

}  // namespace kernels
}  // namespace cranfield
