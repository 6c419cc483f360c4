#include "evaluate.hpp"

#include <algorithm>
#include <mutex>

#include "threads.hpp"

namespace cranfield {

namespace {

// Up to this many arrangements of tied items are all looked at; beyond it, orders are drawn.
constexpr double most_arrangements = 20000;
constexpr int drawn_orders = 2000;
// Groups with so many items to a judged one are not shuffled as a whole.
constexpr std::size_t sparse_group = 16;

// A small generator with a fixed start: the same input gives the same draw everywhere.
class Draw {
  public:
    explicit Draw(std::uint64_t seed) : state_(seed) {}
    std::uint32_t below(std::uint32_t n) {
        state_ += 0x9E3779B97F4A7C15ull;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return static_cast<std::uint32_t>(((z ^ (z >> 31)) >> 32) * n >> 32);
    }

  private:
    std::uint64_t state_;
};

// The slots of one tied group: a grade per position, NaN where no judged item stands.
struct Slots {
    TieGroup group;
    std::vector<double> grades;
    std::vector<std::uint32_t> places{};  // of the judged items, in no order
    std::vector<double> taken{};

    // Comparable form of a grade, so that arrangements can be enumerated in order.
    static bool before(double a, double b) {
        return std::isnan(a) ? !std::isnan(b) : !std::isnan(b) && a < b;
    }
    void first() { std::sort(grades.begin(), grades.end(), before); }
    bool next() { return std::next_permutation(grades.begin(), grades.end(), before); }
    void shuffle(Draw& draw) {
        const std::uint32_t judged = group.hits_end - group.hits_begin;
        if (grades.size() > sparse_group * judged) return scatter(draw);
        for (auto i = static_cast<std::uint32_t>(grades.size()); i > 1; --i)
            std::swap(grades[i - 1], grades[draw.below(i)]);
    }
    // A shuffle that touches judged items only: in a group of a million they are few. All are
    // taken out, and each is put to a place that is still free.
    void scatter(Draw& draw) {
        taken.clear();
        for (std::uint32_t i = 0; places.size() < group.hits_end - group.hits_begin; ++i)
            places.push_back(i);  // they stand first before the first shuffle
        for (const std::uint32_t at : places) {
            taken.push_back(grades[at]);
            grades[at] = not_judged;
        }
        places.clear();
        const auto size = static_cast<std::uint32_t>(grades.size());
        for (const double grade : taken) {
            std::uint32_t at = draw.below(size);
            while (!std::isnan(grades[at])) at = draw.below(size);
            grades[at] = grade;
            places.push_back(at);
        }
    }
    double arrangements() const {
        std::vector<double> sorted = grades;
        std::sort(sorted.begin(), sorted.end(), before);
        double count = 1, same = 1;
        for (std::size_t i = 1; i < sorted.size(); ++i) {
            same = before(sorted[i - 1], sorted[i]) ? 1 : same + 1;
            count *= static_cast<double>(i + 1) / same;
            if (count > most_arrangements) return count;
        }
        return count;
    }
    void place(std::vector<Hit>& hits) const {
        std::uint32_t at = group.hits_begin;
        if (places.empty()) {
            for (std::uint32_t i = 0; i < grades.size(); ++i)
                if (!std::isnan(grades[i])) hits[at++] = {group.first_rank + i, grades[i]};
            return;
        }
        for (const std::uint32_t i : places) hits[at++] = {group.first_rank + i, grades[i]};
        std::sort(hits.begin() + group.hits_begin, hits.begin() + group.hits_end,
                  [](const Hit& a, const Hit& b) { return a.rank < b.rank; });
    }
};

}  // namespace

Programme programme_of(const std::vector<std::pair<std::string, Params>>& calls) {
    Programme programme;
    for (const auto& [name, params] : calls)
        programme.push_back({&checked_kernel(name, params), params});
    return programme;
}

bool TopicEvaluator::evaluate(const Block& block, const TopicJudgements& judgements, double* row,
                              std::vector<Duplicate>& duplicates) {
    const bool unique = ranker_.rank(block, judgements, options_, ranking_, duplicates);
    run(row);
    return unique;
}

void TopicEvaluator::evaluate_empty(const TopicJudgements& judgements, double* row) {
    ranking_.retrieved = 0;
    ranking_.hits.clear();
    ranking_.ties.clear();
    ranking_.judgements = &judgements;
    run(row);
}

void TopicEvaluator::run(double* row) {
    view_.reset(ranking_);
    std::vector<std::size_t> without_closed_form;
    const bool average = !ranking_.ties.empty();
    for (std::size_t i = 0; i < programme_.size(); ++i) {
        const Call& call = programme_[i];
        if (!average)
            row[i] = call.kernel->value(view_, call.params);
        else if (call.kernel->expected != nullptr)
            row[i] = call.kernel->expected(view_, call.params);
        else
            without_closed_form.push_back(i);
    }
    if (!without_closed_form.empty()) average_over_orders(without_closed_form, row);
}

void TopicEvaluator::average_over_orders(const std::vector<std::size_t>& calls, double* row) {
    std::vector<Slots> groups;
    double arrangements = 1;
    for (const TieGroup& tie : ranking_.ties) {
        Slots slots{tie, std::vector<double>(tie.size, not_judged)};
        for (std::uint32_t i = tie.hits_begin; i < tie.hits_end; ++i)
            slots.grades[i - tie.hits_begin] = ranking_.hits[i].grade;
        arrangements *= slots.arrangements();
        groups.push_back(std::move(slots));
    }
    for (const std::size_t i : calls) row[i] = 0;
    double orders = 0;
    const auto add = [&] {
        for (const Slots& slots : groups) slots.place(ranking_.hits);
        view_.reset(ranking_);
        for (const std::size_t i : calls)
            row[i] += programme_[i].kernel->value(view_, programme_[i].params);
        ++orders;
    };
    if (arrangements <= most_arrangements) {
        for (Slots& slots : groups) slots.first();
        for (std::size_t turned = 0; turned < groups.size();) {
            add();
            // An odometer of permutations: the first group turns fastest.
            for (turned = 0; turned < groups.size() && !groups[turned].next(); ++turned) {
            }
        }
    } else {
        Draw draw(0x43524E46u + ranking_.retrieved);
        for (int i = 0; i < drawn_orders; ++i) {
            for (Slots& slots : groups) slots.shuffle(draw);
            add();
        }
    }
    for (const std::size_t i : calls) row[i] /= orders;
}

void evaluate_table(const JudgementIndex& index, const Columns& run, const Programme& programme,
                    const Options& options, unsigned jobs, double* values, std::uint8_t* present,
                    std::vector<TableDuplicate>& duplicates) {
    std::atomic<std::size_t> next{0};
    std::mutex guard;
    const auto topics =
        static_cast<unsigned>(std::clamp<std::size_t>(run.topics.size(), 1, std::max(1u, jobs)));
    on_threads(topics, [&] {
        TopicEvaluator evaluator(programme, options);
        Block block;
        std::vector<Duplicate> found;
        for (std::size_t t = next++; t < run.topics.size(); t = next++) {
            const std::size_t at = index.find(run.topics[t]);
            if (at == JudgementIndex::absent) continue;
            block.clear();
            const std::int64_t begin = run.offsets[t];
            for (std::int64_t row = begin; row < run.offsets[t + 1]; ++row)
                block.items.push_back(run.item(row));
            block.scores.assign(run.values + begin, run.values + run.offsets[t + 1]);
            present[at] = 1;
            if (!evaluator.evaluate(block, index[at], values + at * programme.size(), found)) {
                const std::lock_guard lock(guard);
                for (const Duplicate& d : found)
                    duplicates.push_back({begin + d.first, begin + d.second});
                found.clear();
            }
        }
    });
    fill_missing(index, programme, options, values, present);
}

void fill_missing(const JudgementIndex& index, const Programme& programme, const Options& options,
                  double* values, const std::uint8_t* present) {
    TopicEvaluator evaluator(programme, options);
    for (std::size_t t = 0; t < index.size(); ++t)
        if (!present[t]) evaluator.evaluate_empty(index[t], values + t * programme.size());
}

std::vector<ColumnSum> column_sums(const double* values, std::size_t columns, const char* counted,
                                   const std::vector<std::size_t>& order, double smallest) {
    std::vector<ColumnSum> sums(columns);
    for (std::size_t j = 0; j < columns; ++j) {
        for (const std::size_t i : order) {
            const double value = values[i * columns + j];
            if (counted[i] == 0 || std::isnan(value)) continue;
            ++sums[j].defined;
            sums[j].sum += value;
            sums[j].logarithms += std::log(std::max(value, smallest));
        }
    }
    return sums;
}

}  // namespace cranfield
