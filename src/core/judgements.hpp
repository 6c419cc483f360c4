// The judgements of a collection, indexed so that a run can be joined to them topic by topic.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ids.hpp"

namespace cranfield {

constexpr double not_judged = std::numeric_limits<double>::quiet_NaN();

// The judgements of one topic. Grades of items outside the pool are NaN (`not_judged`).
class TopicJudgements {
  public:
    // Adds to `repeats` the positions of items that stand twice, first and second.
    void build(const std::vector<Id>& items, const double* grades,
               std::vector<std::pair<std::int64_t, std::int64_t>>& repeats);

    // Takes other grades for those of the same items; `descending` are the same, best first.
    void assume(const std::vector<double>& grades, const std::vector<double>& descending) {
        grades_ = grades;
        descending_ = descending;
    }

    double grade(Id id, std::uint64_t hash) const {
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
            const Slot& slot = slots_[i];
            if (slot.entry == 0) return not_judged;
            if (slot.tag == tag && items_[slot.entry - 1] == id) return grades_[slot.entry - 1];
        }
    }

    const std::vector<Id>& items() const { return items_; }
    const std::vector<double>& grades() const { return grades_; }
    // All grades of the topic, best first.
    const std::vector<double>& descending() const { return descending_; }
    std::size_t size() const { return grades_.size(); }
    std::size_t count_at_least(double level) const;

  private:
    struct Slot {
        std::uint32_t tag, entry;
    };
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    std::vector<Id> items_;
    std::vector<double> grades_;
    std::vector<double> descending_;
};

// Columns of a table: items of topic t are rows offsets[t] to offsets[t+1].
struct Columns {
    std::vector<Id> topics;
    const std::int64_t* offsets = nullptr;
    const char* item_bytes = nullptr;
    const std::int64_t* item_offsets = nullptr;
    const double* values = nullptr;

    // Throws std::invalid_argument unless all offsets lie within so many rows and bytes.
    void check(std::size_t rows, std::size_t bytes) const;
    Id item(std::int64_t row) const {
        return {item_bytes + item_offsets[row],
                static_cast<std::size_t>(item_offsets[row + 1] - item_offsets[row])};
    }
};

class JudgementIndex {
  public:
    explicit JudgementIndex(const Columns& columns);
    JudgementIndex(const JudgementIndex&) = delete;
    JudgementIndex& operator=(const JudgementIndex&) = delete;

    static constexpr std::size_t absent = static_cast<std::size_t>(-1);

    std::size_t find(Id topic) const {
        const auto it = position_.find(topic);
        return it == position_.end() ? absent : it->second;
    }
    std::size_t size() const { return topics_.size(); }
    const TopicJudgements& operator[](std::size_t i) const { return topics_[i]; }
    // Pairs of rows that judge one item of one topic.
    const std::vector<std::pair<std::int64_t, std::int64_t>>& repeats() const { return repeats_; }

  private:
    std::string bytes_;
    std::unordered_map<Id, std::size_t> position_;
    std::vector<TopicJudgements> topics_;
    std::vector<std::pair<std::int64_t, std::int64_t>> repeats_;
};

}  // namespace cranfield
