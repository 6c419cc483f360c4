// Expected values over all orders within tied groups, in closed form. The precision and gain
// forms follow from the chance that an item stands at a position; those of average precision
// and reciprocal rank are McSherry and Najork's (2008).
#include <algorithm>

#include "kernels/gain.hpp"
#include "kernels/table.hpp"
#include "kernels/ties.hpp"

namespace cranfield::expected {

namespace {

template <class Accept>
double judged_share(View& v, double depth, const Accept& accept) {
    double found = 0;
    for_each_group(v.ranking(), [&](double first, double size, std::size_t begin, std::size_t end) {
        const auto counted =
            std::count_if(v.hits().begin() + begin, v.hits().begin() + end, accept);
        found += static_cast<double>(counted) * positions_within(depth, first, size) / size;
    });
    return found;
}

}  // namespace

double precision_at(View& v, const Params& p) { return relevant_within(v, p[0], p[1]) / p[1]; }

double recall_at(View& v, const Params& p) {
    const double total = v.relevant(p[0]).total;
    return total > 0 ? relevant_within(v, p[0], p[1]) / total : 0.0;
}

double relative_precision_at(View& v, const Params& p) {
    const double total = v.relevant(p[0]).total;
    return total > 0 ? relevant_within(v, p[0], p[1]) / std::min(p[1], total) : 0.0;
}

double r_precision(View& v, const Params& p) {
    const double total = v.relevant(p[0]).total;
    const double depth = depth_of(0, p[1], total);
    return depth > 0 ? relevant_within(v, p[0], depth) / depth : 0.0;
}

double success_at(View& v, const Params& p) {
    double all_miss = 1;
    for_each_group(v.ranking(), [&](double first, double size, std::size_t begin, std::size_t end) {
        const double relevant = count_relevant(v.ranking(), begin, end, p[0]);
        const double drawn = positions_within(p[1], first, size);
        for (double i = 0; i < drawn && all_miss > 0; ++i)
            all_miss *= std::max(0.0, size - relevant - i) / (size - i);
    });
    return 1.0 - all_miss;
}

double reciprocal_rank(View& v, const Params& p) {
    double value = 0;
    bool found = false;
    for_each_group(v.ranking(), [&](double first, double size, std::size_t begin, std::size_t end) {
        const double relevant = count_relevant(v.ranking(), begin, end, p[0]);
        if (found || relevant == 0) return;
        found = true;
        double chance = relevant / size;  // that the first relevant item stands at offset j
        for (double j = 0; j <= size - relevant && first + j <= p[1]; ++j) {
            value += chance / (first + j);
            chance *= (size - j - relevant) / (size - j - 1);
        }
    });
    return value;
}

double average_precision(View& v, const Params& p) {
    const double total = v.relevant(p[0]).total;
    if (total == 0) return 0.0;
    double sum = 0, before = 0;
    for_each_group(v.ranking(), [&](double first, double size, std::size_t begin, std::size_t end) {
        const double relevant = count_relevant(v.ranking(), begin, end, p[0]);
        if (relevant == 0) return;
        const double per_position = size > 1 ? (relevant - 1) / (size - 1) : 0.0;
        for (double i = 0; i < positions_within(p[1], first, size); ++i)
            sum += relevant / size * (before + 1 + i * per_position) / (first + i);
        before += relevant;
    });
    return sum / total;
}

double dcg(View& v, const Params& p) {
    const Gains gains(p);
    double sum = 0;
    for_each_group(
        v.ranking(), [&](std::uint32_t first, double size, std::size_t begin, std::size_t end) {
            double gain = 0;
            for (std::size_t i = begin; i < end; ++i) gain += gains.of(v.hits()[i].grade);
            if (gain == 0) return;
            for (std::uint32_t i = 0; i < positions_within(gains.cutoff(), first, size); ++i)
                sum += gains.discounted(gain / size, first + i);
        });
    return sum;
}

double ndcg(View& v, const Params& p) {
    const double best = kernels::ideal_dcg(v, p);
    return best > 0 ? dcg(v, p) / best : 0.0;
}

double rbp(View& v, const Params& p) {
    double sum = 0;
    for_each_group(v.ranking(), [&](double first, double size, std::size_t begin, std::size_t end) {
        const double relevant = count_relevant(v.ranking(), begin, end, p[0]);
        if (relevant == 0) return;
        double weight = std::pow(p[1], first - 1);
        for (double i = 0; i < positions_within(p[2], first, size); ++i, weight *= p[1])
            sum += relevant / size * weight;
    });
    return (1.0 - p[1]) * sum;
}

namespace {

// Let w be the chances to go on after each item of a group of `size`, 1 for those not listed.
// Fills mean[j], for j up to `most`, with the mean product over all choices of j of its items.
void mean_products(const std::vector<double>& go_on, std::size_t size, std::size_t most,
                   std::vector<double>& mean) {
    mean.assign(most + 1, 1.0);
    double n = static_cast<double>(size - go_on.size());
    for (const double chance : go_on) {
        n += 1;
        for (std::size_t j = std::min(static_cast<std::size_t>(n), most); j > 0; --j) {
            const double d = static_cast<double>(j);
            mean[j] = (n - d) / n * mean[j] + d / n * chance * mean[j - 1];
        }
    }
}

// The expected reciprocal rank of the stop within a group of which `positions` are looked at. Who
// reaches position j stops there with the chance mean[j] - mean[j + 1]. Nobody but a few goes far
// where many items satisfy, so that positions are added until what is left cannot count.
double stop_within(const std::vector<double>& go_on, double first, std::size_t size,
                   std::size_t positions, std::vector<double>& mean) {
    constexpr double of_no_account = 1e-18;
    std::size_t most = std::min<std::size_t>(positions, 1024);
    mean_products(go_on, size, most, mean);
    while (most < positions && mean[most] > of_no_account) {
        most = std::min(positions, 4 * most);
        mean_products(go_on, size, most, mean);
    }
    double sum = 0;
    for (std::size_t j = 0; j < most; ++j)
        sum += (mean[j] - mean[j + 1]) / (first + static_cast<double>(j));
    return sum;
}

}  // namespace

double err(View& v, const Params& p) {
    double sum = 0, still_looking = 1;
    std::vector<double> go_on, mean;
    for_each_group(v.ranking(), [&](double first, double size, std::size_t begin, std::size_t end) {
        go_on.clear();
        for (std::size_t i = begin; i < end; ++i)
            if (v.hits()[i].grade > 0)
                go_on.push_back(1.0 - (std::exp2(v.hits()[i].grade) - 1.0) / std::exp2(p[1]));
        const auto positions = static_cast<std::size_t>(positions_within(p[0], first, size));
        if (!go_on.empty() && positions > 0)
            sum += still_looking *
                   stop_within(go_on, first, static_cast<std::size_t>(size), positions, mean);
        for (const double chance : go_on) still_looking *= chance;
    });
    return sum;
}

double judged_at(View& v, const Params& p) {
    const double depth = std::min(p[0], v.retrieved());
    if (depth == 0) return 0.0;
    return judged_share(v, depth, [](const Hit&) { return true; }) / depth;
}

double unjudged_at(View& v, const Params& p) {
    const double depth = std::min(p[0], v.retrieved());
    return (depth - judged_share(v, depth, [](const Hit& h) { return h.grade >= 0; })) / p[0];
}

}  // namespace cranfield::expected
