#include <algorithm>
#include <atomic>
#include <limits>

#include "kernels/labels.hpp"
#include "threads.hpp"

namespace cranfield::labels {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t row_chunk = 64;

using Set = std::vector<std::size_t>;

template <class Work>
std::vector<double> per_item(std::size_t items, unsigned jobs, const Work& make_worker) {
    std::vector<double> out(items, nan);
    std::atomic<std::size_t> next{0};
    on_threads(jobs, [&] {
        auto worker = make_worker();
        for (std::size_t first; (first = next.fetch_add(row_chunk)) < items;)
            for (std::size_t i = first; i < std::min(first + row_chunk, items); ++i)
                out[i] = worker(i);
    });
    return out;
}

void members(const Flags& flags, std::size_t item, Set& set) {
    set.clear();
    for (std::size_t c = 0; c < flags.cols; ++c)
        if (flags(item, c)) set.push_back(c);
}

// The least cost from a concept to a member of a set; fills `partners` with all that have it.
double nearest(std::size_t from, const Set& set, const Reals& costs, Set& partners) {
    double best = infinity;
    for (const std::size_t c : set) {
        const double cost = costs(from, c);
        if (cost > best) continue;
        if (cost < best) partners.clear();
        best = cost;
        partners.push_back(c);
    }
    return best;
}

// The least total cost of assigning n rows to n of m >= n columns, one to one: shortest
// augmenting paths with potentials (Jonker & Volgenant), O(n^2 m), after a greedy start.
class Assignment {
  public:
    template <class Cost>
    double least(std::size_t n, std::size_t m, const Cost& cost) {
        cols_ = m;
        costs_.resize(n * m);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < m; ++j) costs_[i * m + j] = cost(i, j);
        // Rows and columns count from 1; row 0 is nobody, column 0 a place to start from.
        potential_row_.assign(n + 1, 0);
        potential_col_.assign(m + 1, 0);
        row_of_.assign(m + 1, 0);
        way_.assign(m + 1, 0);
        waiting_.clear();
        for (std::size_t row = 1; row <= n; ++row)
            if (!take_cheapest(row)) waiting_.push_back(row);
        for (const std::size_t row : waiting_) augment(row);
        double total = 0;
        for (std::size_t col = 1; col <= m; ++col)
            if (row_of_[col] != 0) total += at(row_of_[col], col);
        return total;
    }

    // Calls f(row, column, cost) for the pairs of the assignment found last.
    template <class F>
    void for_each_pair(const F& f) const {
        for (std::size_t col = 1; col <= cols_; ++col)
            if (row_of_[col] != 0) f(row_of_[col] - 1, col - 1, at(row_of_[col], col));
    }

  private:
    double at(std::size_t row, std::size_t col) const {
        return costs_[(row - 1) * cols_ + col - 1];
    }

    // A row takes its cheapest column where that is free: optimal so far, as the potential of
    // the row is that cost.
    bool take_cheapest(std::size_t row) {
        const auto first = costs_.begin() + static_cast<std::ptrdiff_t>((row - 1) * cols_);
        const auto best = std::min_element(first, first + static_cast<std::ptrdiff_t>(cols_));
        potential_row_[row] = *best;
        const auto col = static_cast<std::size_t>(best - first) + 1;
        if (row_of_[col] != 0) return false;
        row_of_[col] = row;
        return true;
    }

    void augment(std::size_t row) {
        row_of_[0] = row;
        least_.assign(cols_ + 1, infinity);
        used_.assign(cols_ + 1, false);
        std::size_t col = 0;
        do {
            used_[col] = true;
            const std::size_t here = row_of_[col];
            double step = infinity;
            std::size_t next = 0;
            for (std::size_t j = 1; j <= cols_; ++j) {
                if (used_[j]) continue;
                const double reduced = at(here, j) - potential_row_[here] - potential_col_[j];
                if (reduced < least_[j]) least_[j] = reduced, way_[j] = col;
                if (least_[j] < step) step = least_[j], next = j;
            }
            for (std::size_t j = 0; j <= cols_; ++j) {
                if (used_[j])
                    potential_row_[row_of_[j]] += step, potential_col_[j] -= step;
                else
                    least_[j] -= step;
            }
            col = next;
        } while (row_of_[col] != 0);
        for (; col != 0; col = way_[col]) row_of_[col] = row_of_[way_[col]];
    }

    std::size_t cols_ = 0;
    std::vector<double> costs_, potential_row_, potential_col_, least_;
    std::vector<std::size_t> row_of_, way_, waiting_;
    std::vector<char> used_;
};

struct Matching {
    const Flags &truth, &labels, &broken;
    const Reals& costs;
    const double* agreement;
    Set predicted{}, kept_truth{}, partners{};

    double operator()(std::size_t item) {
        double sum = 0;
        for_each_label(item, [&](std::size_t, MatchRole, double cost, double factor) {
            sum += cost * factor;
        });
        return sum;
    }

    // Calls f(concept, role, cost, agreement) for every label that pays; `partners` then holds the
    // concepts it was matched with, none where it pays the whole cost.
    template <class F>
    void for_each_label(std::size_t item, const F& f) {
        members(labels, item, predicted);
        kept_truth.clear();
        partners.clear();
        for (std::size_t c = 0; c < truth.cols; ++c) {
            if (broken(item, c))
                f(c, MatchRole::broken, 1.0, 1.0);
            else if (truth(item, c))
                kept_truth.push_back(c);
        }
        for (const std::size_t c : predicted) {
            if (truth(item, c) || broken(item, c)) continue;
            pay(c, MatchRole::wrong, kept_truth, f, [&] { return mean_agreement(); });
        }
        for (const std::size_t c : kept_truth)
            if (!labels(item, c))
                pay(c, MatchRole::missed, predicted, f, [&] { return agreement[c]; });
    }

  private:
    template <class F, class Factor>
    void pay(std::size_t label, MatchRole role, const Set& others, const F& f,
             const Factor& factor) {
        partners.clear();
        if (others.empty()) return f(label, role, 1.0, 1.0);
        const double cost = nearest(label, others, costs, partners);
        f(label, role, cost, factor());
    }

    // Equation 7.1 pays the agreement on the nearest concept; where several are as near, none of
    // them comes first, so their mean is paid.
    double mean_agreement() const {
        double sum = 0;
        for (const std::size_t c : partners) sum += agreement[c];
        return sum / static_cast<double>(partners.size());
    }
};

struct RankedAssignment {
    const Flags& truth;
    const Reals &scores, &costs;
    Set wanted{}, ranking{};
    Assignment solver{};

    double operator()(std::size_t item) {
        members(truth, item, wanted);
        if (wanted.empty()) return nan;
        ranking.resize(truth.cols);
        for (std::size_t c = 0; c < truth.cols; ++c) ranking[c] = c;
        const auto cut = ranking.begin() + static_cast<std::ptrdiff_t>(wanted.size());
        std::nth_element(ranking.begin(), cut - 1, ranking.end(),
                         [&](std::size_t a, std::size_t b) {
                             const double x = scores(item, a), y = scores(item, b);
                             return x != y ? x > y : a < b;
                         });
        // Rows in the order of the vocabulary, so that sums do not depend on the confidences.
        std::sort(ranking.begin(), cut);
        return solver.least(wanted.size(), wanted.size(), [&](std::size_t i, std::size_t j) {
            return costs(ranking[i], wanted[j]);
        });
    }
};

struct SetAssignment {
    const Flags &truth, &labels;
    const Reals& costs;
    double dummy;
    Set wanted{}, predicted{};
    Assignment solver{};

    double operator()(std::size_t item) {
        members(truth, item, wanted);
        members(labels, item, predicted);
        const bool fewer = predicted.size() < wanted.size();
        const Set& few = fewer ? predicted : wanted;
        const Set& many = fewer ? wanted : predicted;
        // A dummy costs the same with whatever is left over, so it need not be assigned.
        const auto dummies = static_cast<double>(many.size() - few.size());
        if (few.empty()) return dummy * dummies;
        return dummy * dummies +
               solver.least(few.size(), many.size(),
                            [&](std::size_t i, std::size_t j) { return costs(few[i], many[j]); });
    }
};

}  // namespace

std::vector<double> match_costs(const Flags& truth, const Flags& labels, const Flags& broken,
                                const Reals& costs, const double* agreement, unsigned jobs) {
    return per_item(truth.rows, jobs,
                    [&] { return Matching{truth, labels, broken, costs, agreement}; });
}

std::vector<MatchPart> match_parts(const Flags& truth, const Flags& labels, const Flags& broken,
                                   const Reals& costs, const double* agreement, std::size_t item) {
    std::vector<MatchPart> parts;
    Matching matching{truth, labels, broken, costs, agreement};
    matching.for_each_label(item, [&](std::size_t c, MatchRole role, double cost, double factor) {
        parts.push_back({c, role, cost, factor, matching.partners});
    });
    return parts;
}

std::vector<double> ranked_assignment(const Flags& truth, const Reals& scores, const Reals& costs,
                                      unsigned jobs) {
    return per_item(truth.rows, jobs, [&] { return RankedAssignment{truth, scores, costs}; });
}

std::vector<AssignedPair> assigned_pairs(const Flags& truth, const Reals& scores,
                                         const Reals& costs, std::size_t item) {
    std::vector<AssignedPair> pairs;
    RankedAssignment assignment{truth, scores, costs};
    assignment(item);
    if (assignment.wanted.empty()) return pairs;
    assignment.solver.for_each_pair([&](std::size_t i, std::size_t j, double cost) {
        pairs.push_back({assignment.ranking[i], assignment.wanted[j], cost});
    });
    return pairs;
}

std::vector<double> set_assignment(const Flags& truth, const Flags& labels, const Reals& costs,
                                   double dummy, unsigned jobs) {
    return per_item(truth.rows, jobs, [&] { return SetAssignment{truth, labels, costs, dummy}; });
}

}  // namespace cranfield::labels
