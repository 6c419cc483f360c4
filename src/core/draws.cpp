#include "draws.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "threads.hpp"

namespace cranfield {

namespace {

// So many draws are added up apart before they are joined: sums do not depend on the threads.
constexpr std::size_t block_draws = 32;
constexpr std::uint8_t unsure = 255;

std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

// What chance gives an item of a topic in a draw: a number in [0, 1) that depends on nothing else.
class Chance {
  public:
    Chance(std::uint64_t seed, std::size_t draw, std::size_t topic)
        : key_(mixed(mixed(seed + golden * (draw + 1)) + golden * (topic + 1))) {}
    double operator()(std::size_t entry) const {
        return static_cast<double>(mixed(key_ + golden * (entry + 1)) >> 11) * 0x1.0p-53;
    }

  private:
    static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15ull;
    std::uint64_t key_;
};

// The level of every item that has but one, `unsure` for the others.
std::vector<std::uint8_t> certain_levels(const SoftTruth& truth) {
    const auto rows = static_cast<std::size_t>(truth.offsets[truth.topics]);
    std::vector<std::uint8_t> certain(rows, unsure);
    for (std::size_t row = 0; row < rows; ++row) {
        const double* upto = truth.cumulative + row * truth.count;
        double before = 0;
        for (std::size_t level = 0; level < truth.count; ++level) {
            if (upto[level] - before >= 1.0) certain[row] = static_cast<std::uint8_t>(level);
            before = upto[level];
        }
    }
    return certain;
}

// Draws the grades of a topic, and sorts them by counting.
class TopicDraw {
  public:
    TopicDraw(const SoftTruth& truth, const std::vector<std::uint8_t>& certain)
        : truth_(truth), certain_(certain), tally_(truth.count) {}

    void draw(std::size_t topic, const Chance& chance) {
        const auto begin = static_cast<std::size_t>(truth_.offsets[topic]);
        const auto size = static_cast<std::size_t>(truth_.offsets[topic + 1]) - begin;
        levels_.resize(size);
        grades_.resize(size);
        std::fill(tally_.begin(), tally_.end(), 0);
        for (std::size_t i = 0; i < size; ++i) {
            std::size_t level = certain_[begin + i];
            if (level == unsure) {
                const double* upto = truth_.cumulative + (begin + i) * truth_.count;
                const double u = chance(i);
                for (level = 0; level + 1 < truth_.count && u >= upto[level];) ++level;
            }
            levels_[i] = static_cast<std::uint8_t>(level);
            grades_[i] = truth_.levels[level];
            ++tally_[level];
        }
        descending_.clear();
        for (std::size_t level = truth_.count; level-- > 0;)
            descending_.insert(descending_.end(), tally_[level], truth_.levels[level]);
        judgements_.assume(grades_, descending_);
    }
    const TopicJudgements& judgements() const { return judgements_; }
    const std::vector<double>& grades() const { return grades_; }
    const std::vector<std::uint8_t>& levels() const { return levels_; }

  private:
    const SoftTruth& truth_;
    const std::vector<std::uint8_t>& certain_;
    std::vector<std::size_t> tally_;
    std::vector<std::uint8_t> levels_;
    std::vector<double> grades_, descending_;
    TopicJudgements judgements_;
};

// One thread's work: draws of a block, and what they add up to.
class Worker {
  public:
    Worker(const SoftTruth& truth, const std::vector<RunView>& runs, const Programme& programme,
           const Drawing& how, const std::vector<std::uint8_t>& certain, Drawn& all)
        : truth_(truth),
          runs_(runs),
          programme_(programme),
          how_(how),
          certain_(certain),
          all_(all),
          drawn_(truth, certain),
          row_(programme.size()) {}

    // The values of every run and topic in the first draw, from which the others are measured.
    void first() {
        fit(0);
        for (std::size_t topic = 0; topic < truth_.topics; ++topic) {
            drawn_.draw(topic, Chance(how_.seed, 0, topic));
            for (std::size_t run = 0; run < runs_.size(); ++run) {
                score(run, topic);
                std::copy(row_.begin(), row_.end(), all_.first.begin() + place(run, topic));
            }
        }
    }

    void clear() {
        const std::size_t cells = runs_.size() * truth_.topics * columns();
        sums_.assign(cells, 0);
        squares_.assign(cells, 0);
        defined_.assign(cells, 0);
        effect_counts_.assign(all_.effect_counts.size(), 0);
        effect_sums_.assign(all_.effect_sums.size(), 0);
    }

    void draw(std::size_t at) {
        fit(how_.first + at);
        for (const std::size_t topic : how_.order) {
            drawn_.draw(topic, Chance(how_.seed, how_.first + at, topic));
            means_.assign(how_.watched.size(), 0);
            for (std::size_t run = 0; run < runs_.size(); ++run) {
                if (runs_[run].counted[topic] == 0) continue;
                score(run, topic);
                add(run, at, topic);
            }
            if (!how_.watched.empty()) add_effects(topic);
        }
    }

    void join() {
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            all_.topic_sums[i] += sums_[i];
            all_.topic_squares[i] += squares_[i];
            all_.topic_defined[i] += defined_[i];
        }
        for (std::size_t i = 0; i < effect_counts_.size(); ++i)
            all_.effect_counts[i] += effect_counts_[i];
        for (std::size_t i = 0; i < effect_sums_.size(); ++i)
            all_.effect_sums[i] += effect_sums_[i];
    }

  private:
    std::size_t columns() const { return programme_.size(); }

    // The parameters that depend on the whole truth of a draw.
    void fit(std::size_t draw) {
        if (how_.largest.empty()) return;
        for (const Largest& part : how_.largest) programme_[part.column].params[part.place] = 1;
        for (std::size_t topic = 0; topic < truth_.topics; ++topic) {
            drawn_.draw(topic, Chance(how_.seed, draw, topic));
            for (const Largest& part : how_.largest) {
                double& most = programme_[part.column].params[part.place];
                const auto count = drawn_.judgements().count_at_least(part.level);
                most = std::max(most, static_cast<double>(count));
            }
        }
    }

    std::size_t place(std::size_t run, std::size_t topic) const {
        return (run * truth_.topics + topic) * columns();
    }

    void score(std::size_t run, std::size_t topic) {
        const RunView& of = runs_[run];
        const auto begin = static_cast<std::size_t>(of.offsets[topic]);
        const auto size = static_cast<std::size_t>(of.offsets[topic + 1]) - begin;
        ranking_.retrieved = of.retrieved[topic];
        ranking_.judgements = &drawn_.judgements();
        ranking_.hits.resize(size);
        const std::vector<double>& grades = drawn_.grades();
        for (std::size_t i = 0; i < size; ++i)
            ranking_.hits[i] = {of.ranks[begin + i], grades[of.entries[begin + i]]};
        view_.reset(ranking_);
        for (std::size_t c = 0; c < columns(); ++c)
            row_[c] = programme_[c].kernel->value(view_, programme_[c].params);
        for (const Guard& guard : how_.guards)
            if (row_[guard.guard] == 0) row_[guard.column] = undefined;
    }

    void add(std::size_t run, std::size_t at, std::size_t topic) {
        const std::size_t cell = place(run, topic);
        const std::size_t sum = (run * how_.draws + at) * columns();
        for (std::size_t c = 0; c < columns(); ++c) {
            const double value = row_[c];
            if (std::isnan(value)) continue;
            all_.sums[sum + c] += value;
            all_.logarithms[sum + c] += std::log(std::max(value, how_.smallest));
            ++all_.defined[sum + c];
            const double first = all_.first[cell + c];
            const double less = std::isnan(first) ? value : value - first;
            sums_[cell + c] += less;
            squares_[cell + c] += less * less;
            ++defined_[cell + c];
        }
        for (std::size_t w = 0; w < how_.watched.size(); ++w) {
            const double less = row_[how_.watched[w]] - all_.first[cell + how_.watched[w]];
            if (!std::isnan(less)) means_[w] += less / static_cast<double>(runs_.size());
        }
    }

    void add_effects(std::size_t topic) {
        const auto begin = static_cast<std::size_t>(truth_.offsets[topic]);
        const std::vector<std::uint8_t>& levels = drawn_.levels();
        for (std::size_t i = 0; i < levels.size(); ++i) {
            if (certain_[begin + i] != unsure) continue;
            const std::size_t cell = (begin + i) * truth_.count + levels[i];
            ++effect_counts_[cell];
            for (std::size_t w = 0; w < means_.size(); ++w)
                effect_sums_[cell * means_.size() + w] += means_[w];
        }
    }

    const SoftTruth& truth_;
    const std::vector<RunView>& runs_;
    Programme programme_;
    const Drawing& how_;
    const std::vector<std::uint8_t>& certain_;
    Drawn& all_;
    TopicDraw drawn_;
    Ranking ranking_;
    View view_;
    std::vector<double> row_, means_, sums_, squares_, effect_sums_;
    std::vector<std::int32_t> defined_, effect_counts_;
};

// Lets threads pass one after the other, in the order of their numbers.
class Turn {
  public:
    template <class Work>
    void take(std::size_t number, const Work& work) {
        std::unique_lock lock(guard_);
        passed_.wait(lock, [&] { return next_ == number || left_; });
        if (left_) return;
        work();
        ++next_;
        passed_.notify_all();
    }
    // One thread fails: nobody waits for it.
    void leave() {
        const std::lock_guard lock(guard_);
        left_ = true;
        passed_.notify_all();
    }

  private:
    std::mutex guard_;
    std::condition_variable passed_;
    std::size_t next_ = 0;
    bool left_ = false;
};

}  // namespace

JudgedRanks judged_ranks(const JudgementIndex& index, const Columns& run, const Options& options,
                         unsigned jobs, std::vector<TableDuplicate>& duplicates) {
    std::vector<Ranking> rankings(index.size());
    JudgedRanks found;
    found.present.assign(index.size(), 0);
    std::atomic<std::size_t> next{0};
    std::mutex guard;
    on_threads(std::max(1u, jobs), [&] {
        Ranker ranker;
        Block block;
        std::vector<Duplicate> twice;
        for (std::size_t t = next++; t < run.topics.size(); t = next++) {
            const std::size_t at = index.find(run.topics[t]);
            if (at == JudgementIndex::absent) continue;
            block.clear();
            const std::int64_t begin = run.offsets[t];
            for (std::int64_t row = begin; row < run.offsets[t + 1]; ++row)
                block.items.push_back(run.item(row));
            block.scores.assign(run.values + begin, run.values + run.offsets[t + 1]);
            found.present[at] = 1;
            if (!ranker.rank(block, index[at], options, rankings[at], twice)) {
                const std::lock_guard lock(guard);
                for (const Duplicate& d : twice)
                    duplicates.push_back({begin + d.first, begin + d.second});
                twice.clear();
            }
        }
    });
    found.offsets.push_back(0);
    for (const Ranking& ranking : rankings) {
        found.retrieved.push_back(ranking.retrieved);
        for (const Hit& hit : ranking.hits) {
            found.ranks.push_back(hit.rank);
            found.entries.push_back(static_cast<std::uint32_t>(hit.grade));
        }
        found.offsets.push_back(static_cast<std::int64_t>(found.ranks.size()));
    }
    return found;
}

Drawn draw_scores(const SoftTruth& truth, const std::vector<RunView>& runs,
                  const Programme& programme, const Drawing& how, Progress& progress) {
    Drawn all;
    const std::size_t over_topics = runs.size() * how.draws * programme.size();
    const std::size_t over_draws = runs.size() * truth.topics * programme.size();
    const auto rows = static_cast<std::size_t>(truth.offsets[truth.topics]);
    all.sums.assign(over_topics, 0);
    all.logarithms.assign(over_topics, 0);
    all.defined.assign(over_topics, 0);
    all.first.assign(over_draws, 0);
    all.topic_sums.assign(over_draws, 0);
    all.topic_squares.assign(over_draws, 0);
    all.topic_defined.assign(over_draws, 0);
    if (!how.watched.empty()) {
        all.effect_counts.assign(rows * truth.count, 0);
        all.effect_sums.assign(rows * truth.count * how.watched.size(), 0);
    }
    const std::vector<std::uint8_t> certain = certain_levels(truth);
    Worker(truth, runs, programme, how, certain, all).first();
    const std::size_t blocks = (how.draws + block_draws - 1) / block_draws;
    progress.total = how.draws;
    std::atomic<std::size_t> next{0};
    Turn turn;
    const auto threads =
        static_cast<unsigned>(std::clamp<std::size_t>(blocks, 1, std::max(1u, how.jobs)));
    const auto work = [&] {
        Worker worker(truth, runs, programme, how, certain, all);
        for (std::size_t b = next++; b < blocks; b = next++) {
            worker.clear();
            const std::size_t end = std::min(how.draws, (b + 1) * block_draws);
            for (std::size_t at = b * block_draws; at < end && !progress.cancelled; ++at) {
                worker.draw(at);
                ++progress.done;
            }
            turn.take(b, [&] { worker.join(); });
        }
    };
    on_threads(threads, [&] {
        try {
            work();
        } catch (...) {
            turn.leave();
            throw;
        }
    });
    return all;
}

Expected expected_sums(const SoftTruth& truth, const RunView& run, const Programme& programme) {
    Expected found;
    found.values.assign(truth.topics * programme.size(), 0);
    found.variances = found.values;
    TopicJudgements nothing;
    Ranking ranking;
    ranking.judgements = &nothing;
    ranking.hits.resize(1);
    View view;
    std::vector<double> mean(programme.size()), square(programme.size());
    for (std::size_t topic = 0; topic < truth.topics; ++topic) {
        const auto begin = static_cast<std::size_t>(truth.offsets[topic]);
        ranking.retrieved = run.retrieved[topic];
        const std::size_t at = topic * programme.size();
        for (std::int64_t hit = run.offsets[topic]; hit < run.offsets[topic + 1]; ++hit) {
            const double* upto = truth.cumulative + (begin + run.entries[hit]) * truth.count;
            std::fill(mean.begin(), mean.end(), 0);
            std::fill(square.begin(), square.end(), 0);
            for (std::size_t level = 0; level < truth.count; ++level) {
                const double chance = level == 0 ? upto[0] : upto[level] - upto[level - 1];
                if (chance <= 0) continue;
                ranking.hits[0] = {run.ranks[hit], truth.levels[level]};
                view.reset(ranking);
                for (std::size_t c = 0; c < programme.size(); ++c) {
                    const double value = programme[c].kernel->value(view, programme[c].params);
                    mean[c] += chance * value;
                    square[c] += chance * value * value;
                }
            }
            for (std::size_t c = 0; c < programme.size(); ++c) {
                found.values[at + c] += mean[c];
                found.variances[at + c] += std::max(square[c] - mean[c] * mean[c], 0.0);
            }
        }
    }
    return found;
}

std::vector<std::uint8_t> draw_labels(const SoftConcepts& truth, std::uint64_t seed,
                                      std::size_t draw, unsigned jobs) {
    // So many labels are one piece of work for a thread.
    constexpr std::size_t piece_labels = 1 << 16;
    std::vector<std::uint8_t> labels(truth.items * truth.concepts, 0);
    const std::size_t piece =
        std::max<std::size_t>(1, piece_labels / std::max<std::size_t>(1, truth.concepts));
    std::atomic<std::size_t> next{0};
    on_threads(jobs, [&] {
        for (std::size_t begin; (begin = next.fetch_add(piece)) < truth.items;) {
            const std::size_t end = std::min(begin + piece, truth.items);
            for (std::size_t item = begin; item < end; ++item) {
                const double* chances = truth.chances + item * truth.concepts;
                std::uint8_t* row = labels.data() + item * truth.concepts;
                const Chance chance(seed, draw, item);
                if (!truth.exclusive) {
                    for (std::size_t c = 0; c < truth.concepts; ++c)
                        row[c] = chance(c) < chances[c];
                    continue;
                }
                double upto = 0;
                std::size_t c = 0;
                for (const double u = chance(0); c + 1 < truth.concepts; ++c) {
                    upto += chances[c];
                    if (u < upto) break;
                }
                if (truth.concepts > 0) row[c] = 1;
            }
        }
    });
    return labels;
}

}  // namespace cranfield
