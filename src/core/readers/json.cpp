#include "readers/json.hpp"

#include <cmath>
#include <cstring>
#include <unordered_set>

#include "ids.hpp"
#include "readers/marks.hpp"
#include "readers/numbers.hpp"

namespace cranfield {

namespace {

// Python has a limit of its own for whole numbers, far above what a double can hold.
constexpr std::size_t longest_number = 400;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether a text is a number as JSON writes it; `whole` if it has neither a point nor an exponent.
bool is_json_number(Id text, bool& whole) {
    const char* p = text.data();
    const char* end = p + text.size();
    const auto digits = [&] {
        const char* start = p;
        while (p < end && is_digit(*p)) ++p;
        return p > start;
    };
    if (p < end && *p == '-') ++p;
    const char* first = p;
    if (!digits() || (*first == '0' && p > first + 1)) return false;
    whole = p == end;
    if (p < end && *p == '.') {
        ++p;
        if (!digits()) return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        ++p;
        if (p < end && (*p == '+' || *p == '-')) ++p;
        if (!digits()) return false;
    }
    return p == end;
}

class Nested {
  public:
    Nested(std::string_view text, bool finite, Table& table)
        : p_(text.data()), end_(p_ + text.size()), finite_(finite), table_(table) {}

    bool read() {
        table_.offsets.assign(1, 0);
        table_.item_offsets.assign(1, 0);
        std::unordered_set<Id> topics;
        Id topic;
        if (!taken('{')) return false;
        do {
            if (!string(topic) || !topics.insert(topic).second || !taken(':') || !items())
                return false;
            table_.topics.emplace_back(topic);
            table_.offsets.push_back(static_cast<std::int64_t>(table_.values.size()));
        } while (taken(','));
        if (!taken('}')) return false;
        skip_blanks();
        return p_ == end_;
    }

  private:
    bool items() {
        if (!taken('{')) return false;
        if (taken('}')) return true;
        names_.clear();
        do {
            Id name;
            if (!string(name) || !taken(':') || !number()) return false;
            names_.push_back(name);
            table_.item_bytes.insert(table_.item_bytes.end(), name.begin(), name.end());
            table_.item_offsets.push_back(static_cast<std::int64_t>(table_.item_bytes.size()));
        } while (taken(','));
        return taken('}') && all_differ();
    }

    bool all_differ() {
        seen_.reset(names_.size());
        for (std::uint32_t i = 0; i < names_.size(); ++i)
            if (seen_.insert(names_[i], hash_id(names_[i]), i,
                             [&](std::uint32_t at) { return names_[at]; }) != IdSet::absent)
                return false;
        return true;
    }

    void skip_blanks() {
        while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
    }

    bool taken(char mark) {
        skip_blanks();
        if (p_ == end_ || *p_ != mark) return false;
        ++p_;
        return true;
    }

    bool string(Id& text) {
        if (!taken('"')) return false;
        const char* start = p_;
        while (end_ - p_ >= Lane::size) {
            const Lane lane(p_);
            const std::uint64_t marks = Lane::bits(
                Lane::either(Lane::either(lane.equal('"'), lane.equal('\\')), lane.up_to(0x1F)));
            if (marks != 0) {
                p_ += std::countr_zero(marks);
                break;
            }
            p_ += Lane::size;
        }
        while (p_ < end_ && *p_ != '"' && *p_ != '\\' && static_cast<unsigned char>(*p_) >= ' ')
            ++p_;
        if (p_ == end_ || *p_ != '"') return false;
        text = {start, static_cast<std::size_t>(p_ - start)};
        ++p_;
        return is_ascii(text) || is_utf8(text);
    }

    bool number() {
        skip_blanks();
        const char* start = p_;
        while (p_ < end_ && (is_digit(*p_) || *p_ == '.' || *p_ == '-' || *p_ == '+' ||
                             *p_ == 'e' || *p_ == 'E'))
            ++p_;
        const Id text{start, static_cast<std::size_t>(p_ - start)};
        bool whole = false;
        double value = 0;
        if (text.size() > longest_number || !is_json_number(text, whole)) return false;
        if (!parse_short_decimal(text, end_, value) && !parse_number(text, value)) return false;
        // Whole numbers have no negative zero, and one beyond all doubles is told as such.
        if (whole && (std::isinf(value) || (value == 0 && text[0] == '-'))) return false;
        if (finite_ && std::isinf(value)) return false;
        table_.values.push_back(value);
        return true;
    }

    const char* p_;
    const char* end_;
    bool finite_;
    Table& table_;
    IdSet seen_;
    std::vector<Id> names_;
};

}  // namespace

bool read_nested_json(std::string_view text, bool finite, Table& table) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    table.item_bytes.reserve(text.size() / 3);
    return Nested(text, finite, table).read();
}

}  // namespace cranfield
