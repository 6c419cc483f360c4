// How much the value of a concept changes when an item counts a little more: the derivative of
// each ranked measure by the weight of every item. Tests over items are built on it.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "kernels/labels.hpp"
#include "threads.hpp"

namespace cranfield::labels {

namespace {

// So many concepts at least are added up together, in so many parts at most: neither depends on
// the number of threads, so the sums do not.
constexpr std::size_t fewest_together = 8, most_parts = 8;

// The items of a concept, the highest score first; equal scores are one group.
struct Ranking {
    std::vector<std::pair<double, std::size_t>> sorted;
    std::vector<std::size_t> items, group;  // by position
    std::vector<char> hits;                 // by position
    std::vector<double> tp, fp;             // up to the end of each group
    double positives = 0, negatives = 0;

    double more_tp(std::size_t g) const { return g == 0 ? tp[0] : tp[g] - tp[g - 1]; }
    double more_fp(std::size_t g) const { return g == 0 ? fp[0] : fp[g] - fp[g - 1]; }
    double seen(std::size_t g) const { return tp[g] + fp[g]; }
};

void rank(Ranking& r, const Flags& truth, const Reals& scores, const std::int64_t* order,
          std::size_t c) {
    r.sorted.resize(truth.rows);
    for (std::size_t i = 0; i < truth.rows; ++i)
        r.sorted[i] = {-scores(static_cast<std::size_t>(order[i]), c), i};
    std::sort(r.sorted.begin(), r.sorted.end());
    r.items.resize(truth.rows);
    r.group.resize(truth.rows);
    r.hits.resize(truth.rows);
    r.tp.clear();
    r.fp.clear();
    r.positives = r.negatives = 0;
    for (std::size_t i = 0; i < truth.rows; ++i) {
        r.items[i] = static_cast<std::size_t>(order[r.sorted[i].second]);
        r.hits[i] = truth(r.items[i], c);
        (r.hits[i] ? r.positives : r.negatives) += 1;
        if (i == 0 || r.sorted[i].first != r.sorted[i - 1].first) {
            r.tp.push_back(0);
            r.fp.push_back(0);
        }
        r.group[i] = r.tp.size() - 1;
        r.tp.back() = r.positives;
        r.fp.back() = r.negatives;
    }
}

// What a positive and a negative item of each group add.
struct Steps {
    std::vector<double> positive, negative;

    explicit Steps(std::size_t groups) : positive(groups, 0.0), negative(groups, 0.0) {}

    // An item above the end of a group changes what is counted there.
    void from_below() {
        for (std::size_t g = positive.size() - 1; g-- > 0;) {
            positive[g] += positive[g + 1];
            negative[g] += negative[g + 1];
        }
    }
};

Steps average_precision_steps(const Ranking& r) {
    const std::size_t groups = r.tp.size();
    Steps steps(groups);
    double sum = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        const double more = r.more_tp(g), seen = r.seen(g);
        sum += more * r.tp[g] / seen;
        steps.positive[g] = more * r.fp[g] / (seen * seen);
        steps.negative[g] = -more * r.tp[g] / (seen * seen);
    }
    steps.from_below();
    for (std::size_t g = 0; g < groups; ++g) {
        steps.positive[g] =
            (steps.positive[g] + r.tp[g] / r.seen(g) - sum / r.positives) / r.positives;
        steps.negative[g] /= r.positives;
    }
    return steps;
}

Steps auc_steps(const Ranking& r) {
    Steps steps(r.tp.size());
    const double pairs = r.positives * r.negatives;
    double area = 0;
    for (std::size_t g = 0; g < r.tp.size(); ++g)
        area += r.more_fp(g) * (r.tp[g] - r.more_tp(g) / 2);
    for (std::size_t g = 0; g < r.tp.size(); ++g) {
        const double below = r.negatives - r.fp[g] + r.more_fp(g) / 2;
        steps.positive[g] = (below - area / r.positives) / pairs;
        steps.negative[g] = (r.tp[g] - r.more_tp(g) / 2 - area / r.negatives) / pairs;
    }
    return steps;
}

// Where the two error rates meet moves with the threshold, by the slopes of both rates there;
// these are taken over the neighbourhood of the threshold, since a single item has none.
Steps eer_steps(const Ranking& r) {
    const std::size_t groups = r.tp.size();
    Steps steps(groups);
    std::size_t at = 0;
    while (at + 1 < groups && r.fp[at] / r.negatives + r.tp[at] / r.positives < 1) ++at;
    const double more_tp = r.more_tp(at), more_fp = r.more_fp(at);
    const double tp = r.tp[at] - more_tp, fp = r.fp[at] - more_fp;
    const double before = fp / r.negatives + tp / r.positives - 1;
    const double part =
        std::clamp(-before / (more_fp / r.negatives + more_tp / r.positives), 0.0, 1.0);
    const double rate = (fp + part * more_fp) / r.negatives;
    const double reach = std::sqrt(r.positives + r.negatives);
    std::size_t first = at, last = at;
    while (first > 0 && r.seen(at) - r.seen(first - 1) < reach) --first;
    while (last + 1 < groups && r.seen(last) - r.seen(at) < reach) ++last;
    const double slope_tp = (r.tp[last] - (first == 0 ? 0 : r.tp[first - 1])) / r.positives;
    const double slope_fp = (r.fp[last] - (first == 0 ? 0 : r.fp[first - 1])) / r.negatives;
    const double share = slope_tp / (slope_tp + slope_fp);
    for (std::size_t g = 0; g < groups; ++g) {
        const double above = g < at ? 1 : g == at ? part : 0;
        steps.negative[g] = share * (above - rate) / r.negatives;
        steps.positive[g] = -(1 - share) * (above - (1 - rate)) / r.positives;
    }
    return steps;
}

Steps interpolated_steps(const Ranking& r) {
    const std::size_t groups = r.tp.size();
    constexpr std::size_t levels = 11;
    std::array<double, levels> best{};
    std::array<std::size_t, levels> at{};
    for (std::size_t g = 0; g < groups; ++g) {
        if (r.more_tp(g) == 0) continue;
        const double precision = r.tp[g] / r.seen(g);
        const auto level = static_cast<std::size_t>(std::floor(10 * r.tp[g] / r.positives));
        if (precision > best[level]) best[level] = precision, at[level] = g;
    }
    Steps steps(groups);
    for (std::size_t level = levels; level-- > 0;) {
        if (level + 1 < levels && best[level + 1] >= best[level])
            best[level] = best[level + 1], at[level] = at[level + 1];
        const std::size_t g = at[level];
        const double square = r.seen(g) * r.seen(g) * levels;
        steps.positive[g] += r.fp[g] / square;
        steps.negative[g] -= r.tp[g] / square;
    }
    steps.from_below();
    return steps;
}

// The share of positives around a rank: of the items that enter or leave the first `cut`.
double share_around(const Ranking& r, std::size_t cut) {
    const auto reach = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(cut))));
    const std::size_t first = cut - std::min(cut, reach);
    const std::size_t last = std::min(cut + reach, r.items.size());
    const auto from = r.hits.begin();
    const auto hits = std::count(from + static_cast<std::ptrdiff_t>(first),
                                 from + static_cast<std::ptrdiff_t>(last), char{1});
    return last > first ? static_cast<double>(hits) / static_cast<double>(last - first) : 0;
}

}  // namespace

std::vector<double> concept_influence(const Flags& truth, const Reals& scores,
                                      const std::int64_t* order,
                                      const std::vector<std::int64_t>& cutoffs,
                                      const Reals& weights, unsigned jobs) {
    const std::size_t width = concept_columns + cutoffs.size();
    const std::size_t together =
        std::max(fewest_together, (truth.cols + most_parts - 1) / most_parts);
    const std::size_t chunks = (truth.cols + together - 1) / together;
    std::vector<double> parts(chunks * width * truth.rows, 0.0);
    const auto add = [&](double* out, const Ranking& r, const Steps& steps, double weight) {
        for (std::size_t i = 0; i < r.items.size(); ++i)
            out[r.items[i]] +=
                weight * (r.hits[i] ? steps.positive[r.group[i]] : steps.negative[r.group[i]]);
    };
    // With the first `cut` items; `moving` where their number is that of the positives.
    const auto add_cut = [&](double* out, const Ranking& r, std::size_t cut, bool moving,
                             double weight) {
        const auto depth = static_cast<double>(cut);
        const std::size_t inside = std::min(cut, r.items.size());
        const double share = inside < r.items.size() ? share_around(r, cut) : 0;
        const double value =
            static_cast<double>(std::count(
                r.hits.begin(), r.hits.begin() + static_cast<std::ptrdiff_t>(inside), char{1})) /
            depth;
        for (std::size_t i = 0; i < r.items.size(); ++i) {
            double change = i < inside ? r.hits[i] - share : 0;
            if (moving && r.hits[i]) change += share - value;
            out[r.items[i]] += weight * change / depth;
        }
    };
    std::atomic<std::size_t> next{0};
    on_threads(jobs, [&] {
        Ranking ranking;
        for (std::size_t chunk; (chunk = next.fetch_add(1)) < chunks;)
            for (std::size_t c = chunk * together; c < std::min((chunk + 1) * together, truth.cols);
                 ++c) {
                const auto out = [&](std::size_t column) {
                    return parts.data() + (chunk * width + column) * truth.rows;
                };
                rank(ranking, truth, scores, order, c);
                if (ranking.positives == 0) continue;
                if (weights(c, average_precision) != 0)
                    add(out(average_precision), ranking, average_precision_steps(ranking),
                        weights(c, average_precision));
                if (weights(c, interpolated) != 0)
                    add(out(interpolated), ranking, interpolated_steps(ranking),
                        weights(c, interpolated));
                if (weights(c, r_precision) != 0)
                    add_cut(out(r_precision), ranking, static_cast<std::size_t>(ranking.positives),
                            true, weights(c, r_precision));
                for (std::size_t k = 0; k < cutoffs.size(); ++k)
                    if (weights(c, concept_columns + k) != 0)
                        add_cut(out(concept_columns + k), ranking,
                                static_cast<std::size_t>(cutoffs[k]), false,
                                weights(c, concept_columns + k));
                if (ranking.negatives == 0) continue;
                if (weights(c, auc) != 0)
                    add(out(auc), ranking, auc_steps(ranking), weights(c, auc));
                if (weights(c, eer) != 0)
                    add(out(eer), ranking, eer_steps(ranking), weights(c, eer));
            }
    });
    std::vector<double> sums(width * truth.rows, 0.0);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk)
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += parts[chunk * sums.size() + i];
    return sums;
}

}  // namespace cranfield::labels
