// From the lines of a run for one topic to a ranking: join with the judgements, order, cut.
#pragma once

#include <cstdint>
#include <vector>

#include "ids.hpp"
#include "judgements.hpp"

namespace cranfield {

// What a run says about one topic, in the order of the input.
struct Block {
    std::vector<Id> items;
    std::vector<double> scores;
    std::vector<std::uint32_t> lines;  // where each entry stands in its chunk

    void clear() {
        items.clear();
        scores.clear();
        lines.clear();
    }
    std::size_t size() const { return items.size(); }

    // Adds lines of this topic.
    template <class Line>
    void append(const Line* line, const Line* end) {
        const std::size_t before = size(), after = before + static_cast<std::size_t>(end - line);
        items.resize(after);
        scores.resize(after);
        lines.resize(after);
        for (std::size_t i = before; i < after; ++i, ++line) {
            items[i] = line->item;
            scores[i] = line->value;
            lines[i] = line->number;
        }
    }
};

// A judged item that was retrieved. Ranks count from 1.
struct Hit {
    std::uint32_t rank;
    double grade;
};

// Items with one score, of which `hits` are judged.
struct TieGroup {
    std::uint32_t first_rank, size;
    std::uint32_t hits_begin, hits_end;
};

// A ranking as measures see it: the number of items and the judged ones among them. Every
// measure depends on nothing else, and a run of a thousand items has few judged ones.
struct Ranking {
    std::uint32_t retrieved = 0;
    std::vector<Hit> hits;
    std::vector<TieGroup> ties;
    const TopicJudgements* judgements = nullptr;
};

enum class Ties { id, id_ascending, file, best, worst, average };

struct Options {
    Ties ties = Ties::id;
    bool judged_only = false;
    bool check_duplicates = true;
    std::uint32_t max_items = 0xFFFFFFFFu;
};

struct Duplicate {
    std::uint32_t first, second;  // positions in the block
};

// Makes rankings; keeps its buffers between topics.
class Ranker {
  public:
    // False when an item occurs twice; `duplicates` then lists where.
    bool rank(const Block& block, const TopicJudgements& judgements, const Options& options,
              Ranking& ranking, std::vector<Duplicate>& duplicates);

  private:
    void join(const Block& block, const TopicJudgements& judgements, bool check_duplicates,
              std::vector<Duplicate>& duplicates);
    bool rank_judged(const Block& block, const Options& options, Ranking& ranking);
    void count_ranks(const Block& block, Ties ties, Ranking& ranking);
    void order_by_score(const Block& block);
    void collect(const Block& block, const Options& options, Ranking& ranking);
    void order_group(const Block& block, std::size_t begin, std::size_t end, Ties ties);

    IdSet seen_;
    std::vector<double> grades_;
    std::vector<std::uint32_t> judged_;  // positions of items with a grade
    std::vector<double> keys_;           // their scores, best first
    std::vector<std::uint32_t> above_;   // other items between one of them and the one before
    std::vector<std::uint32_t> order_;
};

}  // namespace cranfield
