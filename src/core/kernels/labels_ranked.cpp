#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kernels/labels.hpp"
#include "threads.hpp"

namespace cranfield::labels {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// Eight doubles are a cache line: so many columns are gathered in one pass over the rows.
constexpr std::size_t gathered = 8;
constexpr std::size_t radix_from = 512;
constexpr std::size_t row_chunk = 256;

// A whole number that orders as the score does.
std::uint64_t key_of(double score) {
    const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return bits & sign ? ~bits : bits | sign;
}

// Ascending: by the upper four bytes in as many passes, from the last to the first; then what
// shares them (hardly anything, or a tie) by comparison.
void sort_keys(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& spare) {
    if (keys.size() < radix_from) {
        std::sort(keys.begin(), keys.end());
        return;
    }
    constexpr std::size_t digits = 4, values = 256, lower = 32;
    std::array<std::array<std::uint32_t, values>, digits> count{};
    for (const std::uint64_t key : keys)
        for (std::size_t d = 0; d < digits; ++d) ++count[d][key >> (lower + 8 * d) & 255];
    spare.resize(keys.size());
    for (std::size_t d = 0; d < digits; ++d) {
        const std::size_t shift = lower + 8 * d;
        if (count[d][keys[0] >> shift & 255] == keys.size()) continue;  // all share this byte
        std::array<std::uint32_t, values> start{};
        for (std::size_t v = 1; v < values; ++v) start[v] = start[v - 1] + count[d][v - 1];
        for (const std::uint64_t key : keys) spare[start[key >> shift & 255]++] = key;
        keys.swap(spare);
    }
    for (auto first = keys.begin(); first != keys.end();) {
        auto last = first + 1;
        bool sorted = true;
        for (; last != keys.end() && *last >> lower == *first >> lower; ++last)
            sorted = sorted && *(last - 1) <= *last;
        if (!sorted) std::sort(first, last);
        first = last;
    }
}

struct Column {
    std::vector<std::uint64_t> positive, negative;
};

using Columns = std::array<Column, gathered>;

// The keys of some neighbouring columns, in one pass over the rows.
void gather(Columns& columns, std::size_t first, std::size_t last, const Flags& truth,
            const Reals& scores) {
    for (Column& column : columns) {
        column.positive.resize(truth.rows);
        column.negative.resize(truth.rows);
    }
    std::array<std::size_t, gathered> positives{};
    for (std::size_t i = 0; i < truth.rows; ++i)
        for (std::size_t c = first; c < last; ++c) {
            // Both are written and one of them kept: labels are random, a branch would not be.
            Column& column = columns[c - first];
            std::size_t& p = positives[c - first];
            column.positive[p] = column.negative[i - p] = key_of(scores(i, c));
            p += truth(i, c);
        }
    for (std::size_t c = first; c < last; ++c) {
        columns[c - first].positive.resize(positives[c - first]);
        columns[c - first].negative.resize(truth.rows - positives[c - first]);
    }
}

// Items of equal scores: how many of them are positive, and how many are not.
struct Group {
    std::uint64_t key = 0;
    double positives = 0, negatives = 0;
};

// Goes down the scores of a column, which has been sorted on both sides.
class Merged {
  public:
    explicit Merged(const Column& column)
        : column_(column), p_(column.positive.size()), n_(column.negative.size()) {}

    bool next(Group& group) {
        if (p_ == 0 && n_ == 0) return false;
        group.key =
            std::max(p_ > 0 ? column_.positive[p_ - 1] : 0, n_ > 0 ? column_.negative[n_ - 1] : 0);
        const std::size_t p_before = p_, n_before = n_;
        while (p_ > 0 && column_.positive[p_ - 1] == group.key) --p_;
        while (n_ > 0 && column_.negative[n_ - 1] == group.key) --n_;
        group.positives = static_cast<double>(p_before - p_);
        group.negatives = static_cast<double>(n_before - n_);
        return true;
    }

  private:
    const Column& column_;
    std::size_t p_, n_;
};

// Goes down the scores of items that were sorted before, whatever is true of them.
class Sorted {
  public:
    Sorted(const std::uint64_t* keys, const std::vector<char>& hits)
        : keys_(keys), hits_(hits.data()), left_(hits.size()) {}

    bool next(Group& group) {
        if (left_ == 0) return false;
        const std::size_t before = left_;
        std::size_t found = 0;
        group.key = keys_[left_ - 1];
        do found += static_cast<std::size_t>(hits_[--left_]);
        while (left_ > 0 && keys_[left_ - 1] == group.key);
        group.positives = static_cast<double>(found);
        group.negatives = static_cast<double>(before - left_ - found);
        return true;
    }

  private:
    const std::uint64_t* keys_;
    const char* hits_;
    std::size_t left_;
};

template <class Ranking>
void curve_measures(Ranking ranking, double positives, double negatives, double* out) {
    if (positives == 0) return;
    double tp = 0, fp = 0, area = 0, precisions = 0, crossing = nan;
    double after = fp / negatives + tp / positives - 1;
    std::array<double, 11> best{};
    for (Group group; ranking.next(group);) {
        const double more_tp = group.positives, more_fp = group.negatives;
        tp += more_tp;
        fp += more_fp;
        area += more_fp * (tp - more_tp / 2);
        if (more_tp > 0) {  // without, precision falls and adds nothing
            const double precision = tp / (tp + fp);
            precisions += more_tp * precision;
            const auto level = static_cast<std::size_t>(std::floor(10 * tp / positives));
            best[level] = std::max(best[level], precision);
        }
        if (!std::isnan(crossing)) continue;
        const double before = after;
        after = fp / negatives + tp / positives - 1;
        if (after >= 0) {
            // The equal error rate lies where the curve meets the line FPR = 1 - TPR.
            const double part = before < after ? -before / (after - before) : 0;
            crossing = (fp - more_fp + part * more_fp) / negatives;
        }
    }
    for (std::size_t level = 10; level-- > 0;) best[level] = std::max(best[level], best[level + 1]);
    double sum = 0;
    for (const double value : best) sum += value;
    out[average_precision] = precisions / positives;
    out[interpolated] = sum / 11;
    if (negatives == 0) return;
    out[auc] = area / (positives * negatives);
    out[eer] = crossing;
}

// How many of the first k items are positive; ties are broken by the order of preference.
template <class Ranking>
double found_within(std::size_t k, Ranking ranking, const Flags& truth, const Reals& scores,
                    const std::int64_t* order, std::size_t concept_at) {
    double seen = 0, found = 0, above_found = 0, above = 0;
    std::uint64_t best = 0;
    const auto wanted = static_cast<double>(k);
    for (Group group; seen < wanted && ranking.next(group);) {
        best = group.key;
        above = seen;
        above_found = found;
        seen += group.positives + group.negatives;
        found += group.positives;
    }
    if (seen <= wanted) return found;
    for (std::size_t r = 0; above < wanted; ++r) {
        const auto item = static_cast<std::size_t>(order[r]);
        if (key_of(scores(item, concept_at)) != best) continue;
        ++above;
        if (truth(item, concept_at)) ++above_found;
    }
    return above_found;
}

struct Row {
    std::vector<double> positive, negative, all;
    std::vector<std::size_t> beating;  // [i]: wrong concepts ranked above exactly i true ones
};

// How many of the sorted values are at most this one. No branch depends on the data, so none
// is mispredicted: several times as fast as std::upper_bound on random scores.
std::size_t count_at_most(const std::vector<double>& sorted, double value) {
    const double* base = sorted.data();
    for (std::size_t n = sorted.size(); n > 1; n -= n / 2)
        base += static_cast<std::size_t>(base[n / 2 - 1] <= value) * (n / 2);
    return static_cast<std::size_t>(base - sorted.data()) + (*base <= value);
}

// Precision at the rank |Y|, vocabulary order in ties.
double precision_of(Row& row, const Flags& truth, const Reals& scores, std::size_t item,
                    std::size_t depth) {
    row.all.clear();
    std::size_t all_true = 0;
    for (std::size_t c = 0; c < scores.cols; ++c) {
        row.all.push_back(scores(item, c));
        all_true += truth(item, c);
    }
    if (all_true == 0) return nan;
    if (depth == 0) depth = all_true;
    // Beyond the last concept a ranking is filled up with wrong ones.
    const std::size_t wanted = std::min(depth, scores.cols);
    const auto cut = row.all.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
    std::nth_element(row.all.begin(), cut, row.all.end(), std::greater<>());
    const double limit = *cut;
    std::size_t above = 0, found = 0;
    for (std::size_t c = 0; c < scores.cols; ++c) {
        if (!(scores(item, c) > limit)) continue;
        ++above;
        found += truth(item, c);
    }
    for (std::size_t c = 0; above < wanted; ++c) {
        if (scores(item, c) != limit) continue;
        ++above;
        found += truth(item, c);
    }
    return static_cast<double>(found) / static_cast<double>(depth);
}

// Splits the concepts of an item into true and wrong ones; returns the best.
std::size_t split_row(Row& row, const Flags& truth, const Reals& scores, std::size_t item) {
    row.positive.resize(scores.cols);
    row.negative.resize(scores.cols);
    std::size_t positives = 0, best = 0;
    double highest = scores(item, 0);
    for (std::size_t c = 0; c < scores.cols; ++c) {
        // Both are written and one of them kept: labels are random, a branch would not be.
        const double score = scores(item, c);
        row.positive[positives] = row.negative[c - positives] = score;
        positives += truth(item, c);
        if (score > highest) highest = score, best = c;
    }
    row.positive.resize(positives);
    row.negative.resize(scores.cols - positives);
    return best;
}

void item_measures(Row& row, const Flags& truth, const Reals& scores, std::size_t item,
                   double* out) {
    const std::size_t best = split_row(row, truth, scores, item);
    out[top] = static_cast<double>(best);
    const std::size_t count = row.positive.size();
    if (count == 0) return;
    std::sort(row.positive.begin(), row.positive.end());
    row.beating.assign(count + 1, 0);
    std::size_t pairs = 0;
    for (const double score : row.negative) {
        const std::size_t beaten = count_at_most(row.positive, score);
        ++row.beating[beaten];
        pairs += beaten;
    }
    double precisions = 0;
    std::size_t above = 0, tied_from = count;
    for (std::size_t i = count; i-- > 0;) {
        above += row.beating[i + 1];
        if (i > 0 && row.positive[i - 1] == row.positive[i]) continue;
        const auto true_here = static_cast<double>(count - i);
        precisions += static_cast<double>(tied_from - i) * true_here /
                      (true_here + static_cast<double>(above));
        tied_from = i;
    }
    out[one_error] = truth(item, best) ? 0.0 : 1.0;
    out[coverage] = static_cast<double>(above);
    out[item_ap] = precisions / static_cast<double>(count);
    if (count < scores.cols)
        out[ranking_loss] =
            static_cast<double>(pairs) / static_cast<double>(count * (scores.cols - count));
}

template <class Work>
void for_each_row(std::size_t rows, unsigned jobs, const Work& work) {
    std::atomic<std::size_t> next{0};
    on_threads(jobs, [&] {
        Row row;
        for (std::size_t first; (first = next.fetch_add(row_chunk)) < rows;)
            for (std::size_t i = first; i < std::min(first + row_chunk, rows); ++i) work(row, i);
    });
}

}  // namespace

ConceptOrder::ConceptOrder(const Reals& scores, unsigned jobs)
    : rows_(scores.rows),
      cols_(scores.cols),
      items_(scores.rows * scores.cols),
      keys_(scores.rows * scores.cols) {
    if (rows_ > std::numeric_limits<std::uint32_t>::max())
        throw std::invalid_argument("too many items");
    std::atomic<std::size_t> next{0};
    on_threads(jobs, [&] {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> pairs(rows_);
        for (std::size_t c; (c = next.fetch_add(1)) < cols_;) {
            for (std::size_t i = 0; i < rows_; ++i)
                pairs[i] = {key_of(scores(i, c)), static_cast<std::uint32_t>(i)};
            std::sort(pairs.begin(), pairs.end());
            for (std::size_t i = 0; i < rows_; ++i)
                std::tie(keys_[c * rows_ + i], items_[c * rows_ + i]) = pairs[i];
        }
    });
}

std::vector<double> concept_ranked(const Flags& truth, const Reals& scores,
                                   const std::int64_t* order,
                                   const std::vector<std::int64_t>& cutoffs, unsigned jobs,
                                   const ConceptOrder* sorted) {
    const std::size_t width = concept_columns + cutoffs.size();
    std::vector<double> out(truth.cols * width, nan);
    const auto measure = [&](const auto& ranking, std::size_t relevant, std::size_t c) {
        double* row = out.data() + c * width;
        curve_measures(ranking, static_cast<double>(relevant),
                       static_cast<double>(truth.rows - relevant), row);
        if (relevant == 0) return;
        row[r_precision] = found_within(relevant, ranking, truth, scores, order, c) /
                           static_cast<double>(relevant);
        for (std::size_t k = 0; k < cutoffs.size(); ++k)
            row[concept_columns + k] = found_within(static_cast<std::size_t>(cutoffs[k]), ranking,
                                                    truth, scores, order, c) /
                                       static_cast<double>(cutoffs[k]);
    };
    std::atomic<std::size_t> next{0};
    on_threads(jobs, [&] {
        Columns columns;
        std::vector<std::uint64_t> spare;
        std::vector<char> hits(truth.rows);
        for (std::size_t first; (first = next.fetch_add(gathered)) < truth.cols;) {
            const std::size_t last = std::min(first + gathered, truth.cols);
            if (sorted == nullptr) gather(columns, first, last, truth, scores);
            for (std::size_t c = first; c < last; ++c) {
                if (sorted != nullptr) {
                    const std::uint32_t* items = sorted->items(c);
                    std::size_t relevant = 0;
                    for (std::size_t i = 0; i < truth.rows; ++i)
                        relevant += static_cast<std::size_t>(hits[i] = truth(items[i], c));
                    measure(Sorted(sorted->keys(c), hits), relevant, c);
                    continue;
                }
                Column& column = columns[c - first];
                sort_keys(column.positive, spare);
                sort_keys(column.negative, spare);
                measure(Merged(column), column.positive.size(), c);
            }
        }
    });
    return out;
}

std::vector<double> item_ranked(const Flags& truth, const Reals& scores, unsigned jobs) {
    std::vector<double> out(truth.rows * item_columns, nan);
    for_each_row(truth.rows, jobs, [&](Row& row, std::size_t i) {
        item_measures(row, truth, scores, i, out.data() + i * item_columns);
    });
    return out;
}

std::vector<double> item_precision(const Flags& truth, const Reals& scores, std::size_t depth,
                                   unsigned jobs) {
    std::vector<double> out(truth.rows, nan);
    for_each_row(truth.rows, jobs, [&](Row& row, std::size_t i) {
        out[i] = precision_of(row, truth, scores, i, depth);
    });
    return out;
}

}  // namespace cranfield::labels
