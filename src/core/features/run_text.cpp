#include "features/run_text.hpp"

#include <charconv>
#include <stdexcept>

namespace cranfield::features {

namespace {
template <class Number>
void append(std::string& text, Number number) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    text.append(digits, end);
}
}  // namespace

std::string run_text(const std::vector<std::string_view>& topics,
                     const std::vector<std::string_view>& items, const Rows<std::int64_t>& chosen,
                     const Rows<double>& scores, std::string_view tag) {
    if (chosen.count != topics.size() || scores.count != chosen.count ||
        scores.length != chosen.length)
        throw std::invalid_argument("topics, items and scores do not fit");
    std::string text;
    for (std::size_t t = 0; t < topics.size(); ++t) {
        std::int64_t rank = 0;
        for (std::size_t i = 0; i < chosen.length; ++i) {
            const std::int64_t item = chosen.row(t)[i];
            if (item < 0) continue;
            if (item >= static_cast<std::int64_t>(items.size()))
                throw std::invalid_argument("no such item");
            text.append(topics[t]).append(" Q0 ").append(items[static_cast<std::size_t>(item)]);
            text.push_back(' ');
            append(text, ++rank);
            text.push_back(' ');
            append(text, scores.row(t)[i]);
            text.push_back(' ');
            text.append(tag).push_back('\n');
        }
    }
    return text;
}

}  // namespace cranfield::features
