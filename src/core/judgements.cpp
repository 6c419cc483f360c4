#include "judgements.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace cranfield {

void TopicJudgements::build(const std::vector<Id>& items, const double* grades,
                            std::vector<std::pair<std::int64_t, std::int64_t>>& repeats) {
    items_ = items;
    grades_.assign(grades, grades + items.size());
    descending_ = grades_;
    std::sort(descending_.begin(), descending_.end(), std::greater<>());
    std::size_t size = 8;
    while (size < items.size() * 2) size *= 2;
    slots_.assign(size, {0, 0});
    mask_ = size - 1;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::uint64_t hash = hash_id(items_[i]);
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        std::size_t at = hash & mask_;
        for (; slots_[at].entry != 0; at = (at + 1) & mask_) {
            const std::size_t other = slots_[at].entry - 1;
            if (slots_[at].tag == tag && items_[other] == items_[i]) repeats.emplace_back(other, i);
        }
        slots_[at] = {tag, static_cast<std::uint32_t>(i + 1)};
    }
}

std::size_t TopicJudgements::count_at_least(double level) const {
    return static_cast<std::size_t>(
        std::partition_point(descending_.begin(), descending_.end(),
                             [level](double grade) { return grade >= level; }) -
        descending_.begin());
}

void Columns::check(std::size_t rows, std::size_t bytes) const {
    const auto fit = [](const std::int64_t* begin, std::size_t count, std::size_t last) {
        return begin[0] == 0 && std::is_sorted(begin, begin + count + 1) &&
               static_cast<std::size_t>(begin[count]) == last;
    };
    if (!fit(offsets, topics.size(), rows) || !fit(item_offsets, rows, bytes))
        throw std::invalid_argument("columns of a table do not fit together");
}

JudgementIndex::JudgementIndex(const Columns& columns) {
    // The index owns its bytes: the arrays it was made from may be gone when it is used.
    const std::size_t count = columns.topics.size();
    const std::int64_t rows = columns.offsets[count];
    const std::size_t item_bytes = static_cast<std::size_t>(columns.item_offsets[rows]);
    bytes_.assign(columns.item_bytes, item_bytes);
    std::vector<std::size_t> starts;
    for (const Id topic : columns.topics) {
        starts.push_back(bytes_.size());
        bytes_.append(topic);
    }
    starts.push_back(bytes_.size());
    topics_.resize(count);
    position_.reserve(count);
    std::vector<Id> items;
    for (std::size_t t = 0; t < count; ++t) {
        items.clear();
        for (std::int64_t row = columns.offsets[t]; row < columns.offsets[t + 1]; ++row) {
            const Id item = columns.item(row);
            items.emplace_back(bytes_.data() + (item.data() - columns.item_bytes), item.size());
        }
        const std::size_t before = repeats_.size();
        topics_[t].build(items, columns.values + columns.offsets[t], repeats_);
        for (std::size_t i = before; i < repeats_.size(); ++i) {
            repeats_[i].first += columns.offsets[t];
            repeats_[i].second += columns.offsets[t];
        }
        position_.emplace(Id(bytes_.data() + starts[t], starts[t + 1] - starts[t]), t);
    }
}

}  // namespace cranfield
