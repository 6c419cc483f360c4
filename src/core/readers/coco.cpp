#include "readers/coco.hpp"

#include <cmath>

#include "readers/numbers.hpp"

namespace cranfield {

namespace {

constexpr int deepest = 64;
constexpr std::size_t longest_id = 15;  // digits of whole numbers that a double holds exactly

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Coco {
  public:
    Coco(std::string_view text, CocoBoxes& boxes)
        : start_(text.data()), p_(start_), end_(start_ + text.size()), boxes_(boxes) {}

    bool read() {
        blanks();
        if (p_ == end_) return false;
        boxes_.results = *p_ == '[';
        if (!(boxes_.results ? records() : truth())) return false;
        blanks();
        return p_ == end_;
    }

  private:
    void blanks() {
        while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r')) ++p_;
    }

    bool next(char sign) {
        blanks();
        if (p_ == end_ || *p_ != sign) return false;
        ++p_;
        return true;
    }

    // A string without escapes; control characters do not stand in strings.
    bool key(std::string_view& text) {
        if (!next('"')) return false;
        const char* first = p_;
        while (p_ < end_ && *p_ != '"') {
            if (*p_ == '\\' || static_cast<unsigned char>(*p_) < 0x20) return false;
            ++p_;
        }
        if (p_ == end_) return false;
        text = {first, static_cast<std::size_t>(p_ - first)};
        ++p_;
        return next(':');
    }

    // The text of a number as JSON writes it; `whole` if it has neither a point nor an exponent.
    bool number_text(std::string_view& text, bool& whole) {
        blanks();
        const char* first = p_;
        const auto digits = [&] {
            const char* from = p_;
            while (p_ < end_ && is_digit(*p_)) ++p_;
            return p_ > from;
        };
        if (p_ < end_ && *p_ == '-') ++p_;
        const char* leading = p_;
        if (!digits() || (*leading == '0' && p_ > leading + 1)) return false;
        whole = true;
        if (p_ < end_ && *p_ == '.') {
            whole = false;
            ++p_;
            if (!digits()) return false;
        }
        if (p_ < end_ && (*p_ == 'e' || *p_ == 'E')) {
            whole = false;
            ++p_;
            if (p_ < end_ && (*p_ == '+' || *p_ == '-')) ++p_;
            if (!digits()) return false;
        }
        text = {first, static_cast<std::size_t>(p_ - first)};
        return true;
    }

    bool number(double& value) {
        std::string_view text;
        bool whole = false;
        if (!number_text(text, whole)) return false;
        if (parse_short_decimal(text, end_, value)) return true;
        return parse_number(text, value) && std::isfinite(value);
    }

    bool id(std::int64_t& value) {
        std::string_view text;
        bool whole = false;
        if (!number_text(text, whole) || !whole || text.size() > longest_id) return false;
        const bool negative = text[0] == '-';
        value = 0;
        for (const char c : text.substr(negative)) value = 10 * value + (c - '0');
        if (negative) value = -value;
        return true;
    }

    bool word(std::string_view text) {
        if (!std::string_view(p_, static_cast<std::size_t>(end_ - p_)).starts_with(text))
            return false;
        p_ += text.size();
        return true;
    }

    bool skip_string() {
        ++p_;
        while (p_ < end_ && *p_ != '"') {
            if (static_cast<unsigned char>(*p_) < 0x20) return false;
            p_ += *p_ == '\\' ? 2 : 1;
        }
        if (p_ >= end_) return false;
        ++p_;
        return true;
    }

    bool skip(int depth = 0) {
        blanks();
        if (p_ == end_ || depth > deepest) return false;
        std::string_view text;
        bool whole = false;
        switch (*p_) {
            case '"':
                return skip_string();
            case '[':
                ++p_;
                if (next(']')) return true;
                do {
                    if (!skip(depth + 1)) return false;
                } while (next(','));
                return next(']');
            case '{':
                ++p_;
                if (next('}')) return true;
                do {
                    blanks();
                    if (p_ == end_ || *p_ != '"' || !skip_string() || !next(':') ||
                        !skip(depth + 1))
                        return false;
                } while (next(','));
                return next('}');
            case 't':
                return word("true");
            case 'f':
                return word("false");
            case 'n':
                return word("null");
            default:
                return number_text(text, whole);
        }
    }

    bool truth() {
        bool annotated = false;
        if (!next('{')) return false;
        std::string_view name;
        do {
            if (!key(name)) return false;
            blanks();
            const auto from = static_cast<std::size_t>(p_ - start_);
            if (name == "annotations") {
                if (annotated || !records()) return false;
                annotated = true;
            } else {
                if (!skip()) return false;
                if (name == "images" || name == "categories")
                    boxes_.others.push_back(
                        {std::string(name), {from, static_cast<std::size_t>(p_ - start_)}});
            }
        } while (next(','));
        return annotated && next('}');
    }

    bool records() {
        if (!next('[')) return false;
        if (next(']')) return true;
        do {
            if (!record()) return false;
        } while (next(','));
        return next(']');
    }

    bool record() {
        std::int64_t own = 0, image = 0, category = 0, crowd = 0;
        double box[4] = {}, area = 0, score = 0;
        bool has_id = false, has_image = false, has_category = false, has_box = false,
             has_area = false, has_score = false;
        if (!next('{')) return false;
        std::string_view name;
        do {
            if (!key(name)) return false;
            bool good = true;
            if (name == "image_id")
                good = has_image = id(image);
            else if (name == "category_id")
                good = has_category = id(category);
            else if (name == "bbox")
                good = has_box = next('[') && number(box[0]) && next(',') && number(box[1]) &&
                                 next(',') && number(box[2]) && next(',') && number(box[3]) &&
                                 next(']');
            else if (name == "score" && boxes_.results)
                good = has_score = number(score);
            else if (name == "id" && !boxes_.results)
                good = has_id = id(own);
            else if (name == "area" && !boxes_.results)
                good = has_area = number(area);
            else if (name == "iscrowd" && !boxes_.results)
                good = id(crowd) && (crowd == 0 || crowd == 1);
            else
                good = skip();
            if (!good) return false;
        } while (next(','));
        if (!next('}') || !has_image || !has_category || !has_box) return false;
        if (boxes_.results ? !has_score : !has_id) return false;
        if (!boxes_.results) {
            boxes_.ids.push_back(own);
            boxes_.crowds.push_back(static_cast<std::uint8_t>(crowd));
        }
        boxes_.images.push_back(image);
        boxes_.categories.push_back(category);
        boxes_.corners.insert(boxes_.corners.end(), box, box + 4);
        boxes_.numbers.push_back(boxes_.results ? score : has_area ? area : box[2] * box[3]);
        return true;
    }

    const char* start_;
    const char* p_;
    const char* end_;
    CocoBoxes& boxes_;
};

}  // namespace

bool read_coco(std::string_view text, CocoBoxes& boxes) { return Coco(text, boxes).read(); }

}  // namespace cranfield
