// Rocchio's indices that need no cutoff (eq. 5.18-5.23): 1 is perfect.
#include "kernels/ranks.hpp"
#include "kernels/table.hpp"

namespace cranfield::kernels {

namespace {

// Adds up the ranks of the relevant items; the result is a signal, as of for_each_rank.
double add_ranks(View& v, const RankQuery& query, double& sum) {
    return for_each_rank(v, query, [&](double rank, double, double count) { sum += rank * count; });
}

double add_logs(View& v, const RankQuery& query, double& sum) {
    return for_each_rank(v, query,
                         [&](double rank, double, double count) { sum += count * std::log(rank); });
}

// Sums of logarithms, not differences of log-gammas: those lose all digits for large collections.
double log_factorial(double n) {
    double sum = 0;
    for (double i = 2; i <= n; ++i) sum += std::log(i);
    return sum;
}

double log_binomial(double n, double k) {
    double sum = 0;
    k = std::min(k, n - k);
    for (double i = 0; i < k; ++i) sum += std::log((n - i) / (i + 1));
    return sum;
}

}  // namespace

// The errors before they are normalized (eq. 5.18, 5.21): 0 is perfect.
double recall_error(View& v, const Params& p) {
    const RankQuery query(p);
    const double total = v.relevant(query.level).total;
    if (total == 0) return undefined;
    double ranks = 0;
    if (const double signal = add_ranks(v, query, ranks); signal != 0) return signal;
    return ranks / total - 0.5 * (total + 1.0);
}

double precision_error(View& v, const Params& p) {
    const RankQuery query(p);
    const double total = v.relevant(query.level).total;
    if (total == 0) return undefined;
    double logs = 0;
    if (const double signal = add_logs(v, query, logs); signal != 0) return signal;
    return logs - log_factorial(total);
}

// The fourth parameter expands the scale below 1.
double norm_recall(View& v, const Params& p) {
    const RankQuery query(p);
    const double total = v.relevant(query.level).total;
    if (total == 0) return undefined;
    const double error = recall_error(v, p);
    if (error == size_unknown) return error;
    if (query.size == total) return 1.0;
    return 1.0 - p[3] * error / (query.size - total);
}

double norm_precision(View& v, const Params& p) {
    const RankQuery query(p);
    const double total = v.relevant(query.level).total;
    if (total == 0) return undefined;
    const double error = precision_error(v, p);
    if (error == size_unknown) return error;
    if (query.size == total) return 1.0;
    return 1.0 - error / log_binomial(query.size, total);
}

double rank_recall(View& v, const Params& p) {
    const RankQuery query(p);
    const double total = v.relevant(query.level).total;
    if (total == 0) return undefined;
    double ranks = 0;
    if (const double signal = add_ranks(v, query, ranks); signal != 0) return signal;
    return 0.5 * total * (total + 1.0) / ranks;
}

double log_precision(View& v, const Params& p) {
    const RankQuery query(p);
    const double total = v.relevant(query.level).total;
    if (total == 0) return undefined;
    double logs = 0;
    if (const double signal = add_logs(v, query, logs); signal != 0) return signal;
    // One relevant item at rank 1: 0 / 0, and a perfect ranking.
    return logs == 0 ? 1.0 : log_factorial(total) / logs;
}

}  // namespace cranfield::kernels
