#include "kernels/overlap.hpp"

#include <algorithm>
#include <atomic>

#include "threads.hpp"

namespace cranfield::overlap {

namespace {

constexpr std::int32_t taken = -2;
constexpr std::size_t pairs_at_once = 64;

}  // namespace

Texts::Texts(const std::int32_t* words, const std::int64_t* starts, std::size_t count)
    : words_(words), starts_(starts) {
    sorted_starts_.reserve(count + 1);
    sorted_starts_.push_back(0);
    sorted_.reserve(static_cast<std::size_t>(starts[count]));
    for (std::size_t t = 0; t < count; ++t) {
        const std::int32_t* text = words + starts[t];
        const auto size = static_cast<std::int32_t>(starts[t + 1] - starts[t]);
        const auto begin = static_cast<std::ptrdiff_t>(sorted_.size());
        for (std::int32_t i = 0; i < size; ++i)
            if (text[i] >= 0) sorted_.push_back(i);
        std::stable_sort(sorted_.begin() + begin, sorted_.end(),
                         [&](std::int32_t a, std::int32_t b) { return text[a] < text[b]; });
        sorted_starts_.push_back(static_cast<std::int64_t>(sorted_.size()));
    }
}

Texts::View Texts::operator[](std::size_t text) const {
    return {words_ + starts_[text], static_cast<std::size_t>(starts_[text + 1] - starts_[text]),
            sorted_.data() + sorted_starts_[text],
            static_cast<std::size_t>(sorted_starts_[text + 1] - sorted_starts_[text])};
}

// Finds where the words of the first text stand in the second; false if nowhere.
bool Scorer::match(const Texts::View& first, const Texts::View& second) {
    shared_.clear();
    const std::int32_t* a = first.sorted;
    const std::int32_t* b = second.sorted;
    const std::int32_t* const a_end = a + first.sorted_size;
    const std::int32_t* const b_end = b + second.sorted_size;
    if (candidates_.size() < first.size) candidates_.resize(first.size);
    while (a != a_end && b != b_end) {
        const std::int32_t word = first.words[*a];
        const std::int32_t other = second.words[*b];
        if (word < other) {
            ++a;
        } else if (other < word) {
            ++b;
        } else {
            const std::int32_t* run_end = b;
            while (run_end != b_end && second.words[*run_end] == word) ++run_end;
            for (; a != a_end && first.words[*a] == word; ++a) {
                candidates_[static_cast<std::size_t>(*a)] = {b, run_end};
                shared_.push_back(*a);
            }
            b = run_end;
        }
    }
    std::sort(shared_.begin(), shared_.end());
    return !shared_.empty();
}

// The longest run from a position of the first text that still stands in the second.
std::int32_t Scorer::longest_from(const Texts::View& first, std::int32_t at,
                                  std::int32_t most) const {
    const Range range = candidates_[static_cast<std::size_t>(at)];
    const std::int32_t* words = first.words + at;
    const std::int32_t left = std::min(most, static_cast<std::int32_t>(first.size) - at);
    std::int32_t best = 0;
    for (const std::int32_t* p = range.begin; p != range.end && best < left; ++p) {
        const std::int32_t* other = remaining_.data() + *p;
        const std::int32_t limit =
            std::min(left, static_cast<std::int32_t>(remaining_.size()) - *p);
        std::int32_t length = 0;
        // A boundary ends the run, whatever stands opposite to it.
        while (length < limit && words[length] >= 0 && words[length] == other[length]) ++length;
        best = std::max(best, length);
    }
    return best;
}

// Takes the first place of a run out of the second text; false if there is none.
bool Scorer::take(const Texts::View& first, std::int32_t at, std::int32_t length) {
    const Range range = candidates_[static_cast<std::size_t>(at)];
    const std::int32_t* words = first.words + at;
    for (const std::int32_t* p = range.begin; p != range.end; ++p) {
        if (*p + length > static_cast<std::int32_t>(remaining_.size())) break;
        std::int32_t* other = remaining_.data() + *p;
        if (std::equal(words, words + length, other)) {
            std::fill(other, other + length, taken);
            return true;
        }
    }
    return false;
}

double Scorer::operator()(const Texts::View& first, const Texts::View& second) {
    if (first.sorted_size == 0 || second.sorted_size == 0 || !match(first, second)) return 0.0;
    remaining_.assign(second.words, second.words + second.size);
    length_.assign(first.size, 0);
    const auto longest_left = [&] {
        std::int32_t longest = 0;
        for (const std::int32_t i : shared_)
            longest = std::max(longest, length_[static_cast<std::size_t>(i)]);
        return longest;
    };
    const auto whole = static_cast<std::int32_t>(first.size);
    for (const std::int32_t i : shared_)
        length_[static_cast<std::size_t>(i)] = longest_from(first, i, whole);
    double score = 0.0;
    for (std::int32_t longest = longest_left(); longest > 0; longest = longest_left()) {
        for (const std::int32_t i : shared_) {
            std::int32_t& here = length_[static_cast<std::size_t>(i)];
            if (here < longest) continue;
            if (!take(first, i, longest)) {
                here = longest_from(first, i, longest - 1);
                continue;
            }
            score += static_cast<double>(longest) * longest;
            std::fill_n(length_.begin() + i, longest, 0);
            // Runs that began before this one now end where it begins.
            for (std::int32_t j = i - 1; j >= 0 && length_[static_cast<std::size_t>(j)] > i - j;
                 --j)
                length_[static_cast<std::size_t>(j)] = i - j;
        }
    }
    return score;
}

void score_pairs(const Texts& texts, const Request& request, unsigned jobs, double* scores) {
    std::atomic<std::size_t> next{0};
    on_threads(jobs, [&] {
        Scorer scorer;
        for (;;) {
            const std::size_t begin = next.fetch_add(pairs_at_once);
            if (begin >= request.pairs) return;
            const std::size_t end = std::min(begin + pairs_at_once, request.pairs);
            for (std::size_t k = begin; k < end; ++k) {
                const std::size_t left =
                    static_cast<std::size_t>(request.left[k]) * request.per_sense;
                const std::size_t right =
                    static_cast<std::size_t>(request.right[k]) * request.per_sense;
                double sum = 0.0;
                for (std::size_t r = 0; r < request.relations; ++r)
                    sum += scorer(texts[left + static_cast<std::size_t>(request.first[r])],
                                  texts[right + static_cast<std::size_t>(request.second[r])]);
                scores[k] = sum;
            }
        }
    });
}

}  // namespace cranfield::overlap
