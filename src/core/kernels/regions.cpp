#include "kernels/regions.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "threads.hpp"

namespace cranfield::regions {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// What the COCO program adds to the boxes that are counted, and takes off a threshold of 1.
constexpr double smallest = std::numeric_limits<double>::epsilon();
constexpr double below_one = 1 - 1e-10;
constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

// The share of two boxes that is common to them; of a crowd, the share of the run's box in it.
// VOC counts pixels: both edges belong to a box.
double overlap(const double* a, const double* b, bool of_crowd, double edge) {
    const double width = std::fmin(a[0] + a[2], b[0] + b[2]) - std::fmax(a[0], b[0]) + edge;
    if (width <= 0) return 0;
    const double height = std::fmin(a[1] + a[3], b[1] + b[3]) - std::fmax(a[1], b[1]) + edge;
    if (height <= 0) return 0;
    const double common = width * height;
    const double first = (a[2] + edge) * (a[3] + edge), second = (b[2] + edge) * (b[3] + edge);
    return common / (of_crowd ? first : first + second - common);
}

// The pixels of a mask, and the first and the last of them in the order of columns.
struct Extent {
    double area = 0;
    std::uint64_t first = 0, last = 0;
};

Extent extent_of(masks::Runs mask) {
    Extent extent;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < mask.size(); ++i) {
        if (i % 2 == 1 && mask[i] > 0) {
            if (extent.area == 0) extent.first = at;
            extent.area += mask[i];
            extent.last = at + mask[i] - 1;
        }
        at += mask[i];
    }
    return extent;
}

// The same share of two masks.
double mask_overlap(masks::Runs a, const Extent& of_a, masks::Runs b, const Extent& of_b,
                    bool of_crowd) {
    if (of_a.area == 0 || of_b.area == 0 || of_a.last < of_b.first || of_b.last < of_a.first)
        return 0;
    const auto both = static_cast<double>(masks::common(a, b));
    return both / (of_crowd ? of_a.area : of_a.area + of_b.area - both);
}

bool inside(double area, const std::pair<double, double>& range) {
    return area >= range.first && area <= range.second;
}

// Positions of boxes by concept: those of concept c are order[starts[c]] to order[starts[c + 1]].
struct Grouped {
    std::vector<std::uint32_t> order;
    std::vector<std::size_t> starts;

    Grouped(const Boxes& boxes, std::size_t concepts)
        : order(boxes.count), starts(concepts + 1, 0) {
        for (std::size_t i = 0; i < boxes.count; ++i)
            ++starts[static_cast<std::size_t>(boxes.label[i]) + 1];
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
        for (std::size_t i = 0; i < boxes.count; ++i)
            order[next[static_cast<std::size_t>(boxes.label[i])]++] = static_cast<std::uint32_t>(i);
    }

    std::span<std::uint32_t> of(std::size_t label) {
        return {order.data() + starts[label], starts[label + 1] - starts[label]};
    }
};

// Precision from the counts after each step, at recalls as a rule wants it.
class Curve {
  public:
    void clear() {
        right_.clear();
        precision_.clear();
    }
    void add(double right, double precision) {
        right_.push_back(right);
        precision_.push_back(precision);
    }

    double area(double wanted, Points points) {
        for (std::size_t i = precision_.size(); i-- > 1;)
            precision_[i - 1] = std::max(precision_[i - 1], precision_[i]);
        if (points == Points::all) {
            double sum = 0, before = 0;
            for (std::size_t i = 0; i < right_.size(); ++i) {
                const double recall = right_[i] / wanted;
                sum += (recall - before) * precision_[i];
                before = recall;
            }
            return sum;
        }
        const int levels = points == Points::recall_101 ? 101 : 11;
        double sum = 0;
        std::size_t at = 0;
        for (int level = 0; level < levels; ++level) {
            // The levels as numpy spaces them: a step from 0 times the number.
            const double recall = level == levels - 1 ? 1.0 : level * (1.0 / (levels - 1));
            while (at < right_.size() && right_[at] / wanted < recall) ++at;
            if (at == right_.size()) break;
            sum += precision_[at];
        }
        return sum / levels;
    }

  private:
    std::vector<double> right_, precision_;
};

}  // namespace

Matches::Matches(const Boxes& truth, const Boxes& run, std::size_t concepts, const Plan& plan,
                 unsigned jobs)
    : plan_(plan), concepts_(concepts) {
    for (const Boxes& boxes : {truth, run})
        for (std::size_t i = 0; i < boxes.count; ++i)
            items_ = std::max(items_, static_cast<std::size_t>(boxes.item[i]) + 1);
    Grouped wanted(truth, concepts), placed(run, concepts);
    std::atomic<std::size_t> next{0};
    on_threads(jobs, [&] {
        for (std::size_t c = next++; c < concepts; c = next++) {
            std::stable_sort(wanted.of(c).begin(), wanted.of(c).end(),
                             [&](auto a, auto b) { return truth.item[a] < truth.item[b]; });
            std::stable_sort(placed.of(c).begin(), placed.of(c).end(), [&](auto a, auto b) {
                if (run.item[a] != run.item[b]) return run.item[a] < run.item[b];
                return run.numbers[a] > run.numbers[b];
            });
            match(concepts_[c], truth, run, wanted.of(c), placed.of(c));
        }
    });
}

void Matches::match(Concept& target, const Boxes& truth, const Boxes& run,
                    std::span<const std::uint32_t> wanted, std::span<const std::uint32_t> placed) {
    const std::size_t thresholds = plan_.overlaps.size(), sizes = plan_.sizes.size();
    const double edge = plan_.rule == Rule::voc ? 1 : 0;
    std::vector<std::uint32_t> positions, ranks;
    std::vector<std::vector<Fate>> fates(sizes * thresholds);
    const std::size_t detailed = plan_.partners ? sizes * thresholds : 0;
    std::vector<std::vector<std::int32_t>> partners(detailed);
    std::vector<std::vector<double>> shares(detailed);
    target.wanted.resize(sizes);
    std::vector<double> overlaps, areas;
    std::vector<Extent> wanted_extents;
    std::vector<std::size_t> order, taken;
    const bool masked = truth.masks.starts != nullptr && run.masks.starts != nullptr;
    std::vector<char> ignored;
    std::size_t w = 0, p = 0;
    while (w < wanted.size() || p < placed.size()) {
        std::int32_t item = std::numeric_limits<std::int32_t>::max();
        if (w < wanted.size()) item = std::min(item, truth.item[wanted[w]]);
        if (p < placed.size()) item = std::min(item, run.item[placed[p]]);
        const std::size_t first_wanted = w, first_placed = p;
        while (w < wanted.size() && truth.item[wanted[w]] == item) ++w;
        while (p < placed.size() && run.item[placed[p]] == item) ++p;
        const auto here = wanted.subspan(first_wanted, w - first_wanted);
        auto boxes = placed.subspan(first_placed, p - first_placed);
        if (plan_.depth != 0 && boxes.size() > plan_.depth) boxes = boxes.first(plan_.depth);
        overlaps.assign(boxes.size() * here.size(), 0);
        areas.assign(boxes.size(), 0);
        wanted_extents.clear();
        if (masked)
            for (const std::uint32_t g : here)
                wanted_extents.push_back(extent_of(truth.masks.of(g)));
        for (std::size_t d = 0; d < boxes.size(); ++d) {
            positions.push_back(boxes[d]);
            ranks.push_back(static_cast<std::uint32_t>(d));
            const double* box = run.corners + 4 * std::size_t{boxes[d]};
            const Extent extent = masked ? extent_of(run.masks.of(boxes[d])) : Extent{};
            areas[d] = masked ? extent.area : box[2] * box[3];
            for (std::size_t g = 0; g < here.size(); ++g) {
                const bool of_crowd = plan_.rule == Rule::coco && (truth.flags[here[g]] & crowd);
                overlaps[d * here.size() + g] =
                    masked ? mask_overlap(run.masks.of(boxes[d]), extent, truth.masks.of(here[g]),
                                          wanted_extents[g], of_crowd)
                           : overlap(box, truth.corners + 4 * std::size_t{here[g]}, of_crowd, edge);
            }
        }
        for (std::size_t s = 0; s < sizes; ++s) {
            // Boxes that count come before those that are ignored, each in the order of the file.
            ignored.assign(here.size(), 0);
            for (std::size_t g = 0; g < here.size(); ++g)
                ignored[g] =
                    truth.flags[here[g]] != 0 || !inside(truth.numbers[here[g]], plan_.sizes[s]);
            order.resize(here.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            if (plan_.rule == Rule::coco)
                std::stable_sort(order.begin(), order.end(),
                                 [&](auto a, auto b) { return ignored[a] < ignored[b]; });
            const auto count =
                static_cast<std::uint32_t>(std::count(ignored.begin(), ignored.end(), 0));
            if (count > 0) target.wanted[s].push_back({item, count});
            for (std::size_t t = 0; t < thresholds; ++t) {
                auto& outcome = fates[s * thresholds + t];
                taken.assign(here.size(), 0);
                for (std::size_t d = 0; d < boxes.size(); ++d) {
                    const double* row = overlaps.data() + d * here.size();
                    std::size_t best = none;
                    Fate fate = Fate::wrong;
                    if (plan_.rule == Rule::coco) {
                        double least = std::min(plan_.overlaps[t], below_one);
                        for (const std::size_t g : order) {
                            if (taken[g] && !(truth.flags[here[g]] & crowd)) continue;
                            if (best != none && !ignored[best] && ignored[g]) break;
                            if (row[g] < least) continue;
                            least = row[g];
                            best = g;
                        }
                        if (best != none) {
                            taken[best] = 1;
                            fate = ignored[best] ? Fate::ignored : Fate::right;
                        }
                    } else {
                        // The nearest box, taken or not: a second box of an object is wrong.
                        double most = -1;
                        for (std::size_t g = 0; g < here.size(); ++g)
                            if (row[g] > most) {
                                most = row[g];
                                best = g;
                            }
                        if (best != none && most >= plan_.overlaps[t] && most > 0) {
                            fate = ignored[best] ? Fate::ignored
                                   : taken[best] ? Fate::wrong
                                                 : Fate::right;
                            taken[best] = 1;
                        } else {
                            best = none;
                        }
                    }
                    if (best == none && !inside(areas[d], plan_.sizes[s])) fate = Fate::ignored;
                    outcome.push_back(fate);
                    if (plan_.partners) {
                        const bool alone = best == none;
                        partners[s * thresholds + t].push_back(
                            alone ? -1 : static_cast<std::int32_t>(here[best]));
                        shares[s * thresholds + t].push_back(alone ? 0 : row[best]);
                    }
                }
            }
        }
    }
    // The surest first. COCO leaves equal ones in the order of items, VOC in that of the file.
    std::vector<std::uint32_t> by_score(positions.size());
    std::iota(by_score.begin(), by_score.end(), 0u);
    std::stable_sort(by_score.begin(), by_score.end(), [&](auto a, auto b) {
        const double first = run.numbers[positions[a]], second = run.numbers[positions[b]];
        if (first != second) return first > second;
        return plan_.rule == Rule::voc && positions[a] < positions[b];
    });
    target.item.reserve(by_score.size());
    target.rank.reserve(by_score.size());
    target.confidence.reserve(by_score.size());
    target.placed.reserve(by_score.size());
    for (const std::uint32_t i : by_score) {
        target.item.push_back(run.item[positions[i]]);
        target.rank.push_back(ranks[i]);
        target.confidence.push_back(run.numbers[positions[i]]);
        target.placed.push_back(static_cast<std::int32_t>(positions[i]));
    }
    target.partner.resize(detailed);
    target.share.resize(detailed);
    for (std::size_t f = 0; f < detailed; ++f)
        for (const std::uint32_t i : by_score) {
            target.partner[f].push_back(partners[f][i]);
            target.share[f].push_back(shares[f][i]);
        }
    target.fates.resize(fates.size());
    for (std::size_t f = 0; f < fates.size(); ++f) {
        target.fates[f].reserve(by_score.size());
        for (const std::uint32_t i : by_score) target.fates[f].push_back(fates[f][i]);
    }
}

template <class Value>
std::vector<double> Matches::each(std::size_t size, std::span<const double> weights, unsigned jobs,
                                  const Value& value) const {
    const std::size_t thresholds = plan_.overlaps.size();
    std::vector<double> values(concepts_.size() * thresholds, nan);
    std::atomic<std::size_t> next{0};
    on_threads(jobs, [&] {
        Curve curve;
        for (std::size_t c = next++; c < concepts_.size(); c = next++) {
            double wanted = 0;
            for (const Wanted& one : concepts_[c].wanted[size])
                wanted += one.count *
                          (weights.empty() ? 1.0 : weights[static_cast<std::size_t>(one.item)]);
            if (wanted <= 0) continue;
            for (std::size_t t = 0; t < thresholds; ++t)
                values[c * thresholds + t] =
                    value(concepts_[c], size * thresholds + t, wanted, curve);
        }
    });
    return values;
}

std::vector<double> Matches::precision(std::size_t size, std::uint32_t depth, Points points,
                                       std::span<const double> weights, unsigned jobs) const {
    const double added = plan_.rule == Rule::coco ? smallest : 0;
    return each(size, weights, jobs,
                [&](const Concept& one, std::size_t at, double wanted, Curve& curve) {
                    const std::vector<Fate>& fates = one.fates[at];
                    curve.clear();
                    double right = 0, counted = 0;
                    for (std::size_t i = 0; i < fates.size(); ++i) {
                        if (depth != 0 && one.rank[i] >= depth) continue;
                        if (fates[i] == Fate::ignored) continue;
                        const double weight =
                            weights.empty() ? 1 : weights[static_cast<std::size_t>(one.item[i])];
                        if (weight <= 0) continue;
                        counted += weight;
                        // Steps without a right box lower the precision until the next one.
                        if (fates[i] != Fate::right) continue;
                        right += weight;
                        curve.add(right, right / (counted + added));
                    }
                    return curve.area(wanted, points);
                });
}

std::vector<double> Matches::recall(std::size_t size, std::uint32_t depth,
                                    std::span<const double> weights, unsigned jobs) const {
    return each(
        size, weights, jobs, [&](const Concept& one, std::size_t at, double wanted, Curve&) {
            const std::vector<Fate>& fates = one.fates[at];
            double right = 0;
            for (std::size_t i = 0; i < fates.size(); ++i)
                if (fates[i] == Fate::right && (depth == 0 || one.rank[i] < depth))
                    right += weights.empty() ? 1 : weights[static_cast<std::size_t>(one.item[i])];
            return right / wanted;
        });
}

std::vector<double> Matches::f_measure(std::size_t size, std::uint32_t depth, double confidence,
                                       double beta, std::span<const double> weights,
                                       unsigned jobs) const {
    return each(size, weights, jobs,
                [&](const Concept& one, std::size_t at, double wanted, Curve&) {
                    const std::vector<Fate>& fates = one.fates[at];
                    double right = 0, wrong = 0;
                    for (std::size_t i = 0; i < fates.size(); ++i) {
                        if (one.confidence[i] < confidence) break;
                        if (depth != 0 && one.rank[i] >= depth) continue;
                        const double weight =
                            weights.empty() ? 1 : weights[static_cast<std::size_t>(one.item[i])];
                        if (fates[i] == Fate::right) right += weight;
                        if (fates[i] == Fate::wrong) wrong += weight;
                    }
                    const double square = beta * beta;
                    return (1 + square) * right / (square * wanted + right + wrong);
                });
}

std::vector<double> Matches::localisation(std::size_t size, std::uint32_t depth, double confidence,
                                          std::span<const double> weights, unsigned jobs) const {
    const bool optimal = std::isnan(confidence);
    return each(
        size, weights, jobs, [&](const Concept& one, std::size_t at, double wanted, Curve&) {
            const std::vector<Fate>& fates = one.fates[at];
            const double room = 1 - plan_.overlaps[at % plan_.overlaps.size()];
            double right = 0, wrong = 0, misplaced = 0;
            double least = 1;  // without a box all that is wanted is missed
            for (std::size_t i = 0; i < fates.size(); ++i) {
                if (!optimal && one.confidence[i] < confidence) break;
                const double weight =
                    weights.empty() ? 1 : weights[static_cast<std::size_t>(one.item[i])];
                if (depth == 0 || one.rank[i] < depth) {
                    if (fates[i] == Fate::right) {
                        right += weight;
                        misplaced += weight * (1 - one.share[at][i]) / room;
                    }
                    if (fates[i] == Fate::wrong) wrong += weight;
                }
                // No confidence parts boxes that are equally sure.
                const bool parted =
                    i + 1 == fates.size() || one.confidence[i + 1] != one.confidence[i];
                if (optimal && parted)
                    least =
                        std::min(least, (misplaced + wrong + wanted - right) / (wanted + wrong));
            }
            return optimal ? least : (misplaced + wrong + wanted - right) / (wanted + wrong);
        });
}

std::vector<double> Matches::quality(std::size_t size, std::uint32_t depth, double confidence,
                                     std::span<const double> weights, unsigned jobs) const {
    return each(size, weights, jobs,
                [&](const Concept& one, std::size_t at, double wanted, Curve&) {
                    const std::vector<Fate>& fates = one.fates[at];
                    double placed = 0, overlaps = 0;
                    for (std::size_t i = 0; i < fates.size(); ++i) {
                        if (one.confidence[i] < confidence) break;
                        if (fates[i] == Fate::ignored || (depth != 0 && one.rank[i] >= depth))
                            continue;
                        const double weight =
                            weights.empty() ? 1 : weights[static_cast<std::size_t>(one.item[i])];
                        placed += weight;
                        if (fates[i] == Fate::right) overlaps += weight * one.share[at][i];
                    }
                    return 2 * overlaps / (placed + wanted);
                });
}

Outcomes Matches::outcomes(std::size_t label, std::size_t size, std::size_t threshold) const {
    const Concept& one = concepts_[label];
    const std::size_t at = size * plan_.overlaps.size() + threshold;
    Outcomes result{one.placed, one.partner[at], {}};
    result.fate.reserve(one.placed.size());
    for (const Fate fate : one.fates[at]) result.fate.push_back(static_cast<std::uint8_t>(fate));
    return result;
}

void Matches::add_influence(const Concept& one, const Pull& pull, std::size_t size, std::size_t at,
                            std::uint32_t depth, double wanted, double share,
                            std::vector<double>& sums) const {
    const std::vector<Fate>& fates = one.fates[at];
    const auto item_of = [&](std::size_t i) { return static_cast<std::size_t>(one.item[i]); };
    const auto counts = [&](std::size_t i) {
        return fates[i] != Fate::ignored && (depth == 0 || one.rank[i] < depth);
    };
    const auto add_wanted = [&](double slope) {
        for (const Wanted& some : one.wanted[size])
            sums[static_cast<std::size_t>(some.item)] += share * slope * some.count;
    };
    if (pull.kind == Kind::precision) {
        // The best precision at the recall of each right box or beyond, and where it is reached.
        std::vector<std::size_t> steps;
        std::vector<double> best, counted;
        double right = 0, all = 0;
        for (std::size_t i = 0; i < fates.size(); ++i) {
            if (!counts(i)) continue;
            ++all;
            if (fates[i] != Fate::right) continue;
            steps.push_back(i);
            best.push_back(++right / all);
            counted.push_back(all);
        }
        std::vector<double> times(steps.size(), 0);  // for how many right boxes a step is the best
        double area = 0;
        std::size_t top = steps.size();
        for (std::size_t j = steps.size(); j-- > 0;) {
            if (top == steps.size() || best[j] > best[top]) top = j;
            ++times[top];
            area += best[top] / wanted;
        }
        add_wanted(-area / wanted);
        // Every box before a step is counted in its precision.
        double up = 0, down = 0;
        std::size_t next = steps.size(), reached = steps.size();
        double most = 0;
        for (std::size_t i = fates.size(); i-- > 0;) {
            if (next > 0 && steps[next - 1] == i) {
                --next;
                const double weight = times[next] / (wanted * counted[next]);
                up += weight * (1 - best[next]);
                down += weight * best[next];
                if (reached == steps.size() || best[next] > most) {
                    most = best[next];
                    reached = next;
                }
            }
            if (!counts(i)) continue;
            sums[item_of(i)] += share * (fates[i] == Fate::right ? up + most / wanted : -down);
        }
        return;
    }
    const bool optimal = pull.kind == Kind::localisation && std::isnan(pull.confidence);
    const double room = 1 - plan_.overlaps[at % plan_.overlaps.size()];
    const auto error_of = [&](std::size_t i) { return (1 - one.share[at][i]) / room - 1; };
    double right = 0, wrong = 0, placed = 0, overlaps = 0, least = 1;
    std::size_t last = 0;  // boxes from here on do not count
    for (std::size_t i = 0; i < fates.size(); ++i) {
        if (pull.kind != Kind::recall && !optimal && one.confidence[i] < pull.confidence) break;
        if (counts(i)) {
            right += fates[i] == Fate::right;
            wrong += fates[i] == Fate::wrong;
            if (pull.kind == Kind::localisation && fates[i] == Fate::right) placed += error_of(i);
            if (pull.kind == Kind::quality && fates[i] == Fate::right) overlaps += one.share[at][i];
        }
        if (!optimal) last = i + 1;
        const bool parted = i + 1 == fates.size() || one.confidence[i + 1] != one.confidence[i];
        if (optimal && parted && (placed + wrong + wanted) / (wanted + wrong) < least) {
            least = (placed + wrong + wanted) / (wanted + wrong);
            last = i + 1;
        }
    }
    double by_right = 1 / wanted, by_wrong = 0, by_wanted = -right / (wanted * wanted);
    if (pull.kind == Kind::f) {
        const double square = pull.beta * pull.beta;
        const double below = square * wanted + right + wrong;
        const double value = (1 + square) * right / below;
        by_right = (1 + square - value) / below;
        by_wrong = -value / below;
        by_wanted = -square * value / below;
    } else if (pull.kind == Kind::localisation) {
        if (optimal) {
            placed = wrong = 0;
            for (std::size_t i = 0; i < last; ++i) {
                if (!counts(i)) continue;
                wrong += fates[i] == Fate::wrong;
                if (fates[i] == Fate::right) placed += error_of(i);
            }
        }
        const double below = wanted + wrong;
        const double value = (placed + wrong + wanted) / below;
        by_right = 1 / below;  // times the error of the place
        by_wrong = by_wanted = (1 - value) / below;
    }
    const double below = right + wrong + wanted, quality = 2 * overlaps / below;
    if (pull.kind == Kind::quality) by_wrong = by_wanted = -quality / below;
    add_wanted(by_wanted);
    const auto of_right = [&](std::size_t i) {
        if (pull.kind == Kind::localisation) return by_right * error_of(i);
        if (pull.kind == Kind::quality) return (2 * one.share[at][i] - quality) / below;
        return by_right;
    };
    for (std::size_t i = 0; i < last; ++i)
        if (counts(i))
            sums[item_of(i)] += share * (fates[i] == Fate::wrong ? by_wrong : of_right(i));
}

std::vector<double> Matches::influence(const Pull& pull, std::size_t size, std::uint32_t depth,
                                       std::span<const std::size_t> overlaps, std::size_t items,
                                       unsigned jobs) const {
    std::vector<double> wanted(concepts_.size(), 0);
    double defined = 0;
    for (std::size_t c = 0; c < concepts_.size(); ++c) {
        for (const Wanted& some : concepts_[c].wanted[size]) wanted[c] += some.count;
        defined += wanted[c] > 0;
    }
    // The sum of a concept is made by one thread, and sums are added in the order of concepts: the
    // last digits do not depend on the threads.
    std::vector<std::vector<double>> parts(concepts_.size());
    std::vector<double> sums(items, 0);
    constexpr std::size_t at_once = 16;
    for (std::size_t first = 0; first < concepts_.size(); first += at_once) {
        const std::size_t end = std::min(first + at_once, concepts_.size());
        std::atomic<std::size_t> next{first};
        on_threads(jobs, [&] {
            for (std::size_t c = next++; c < end; c = next++) {
                if (wanted[c] <= 0) continue;
                parts[c].assign(items, 0);
                const double share = 1 / (defined * static_cast<double>(overlaps.size()));
                for (const std::size_t t : overlaps)
                    add_influence(concepts_[c], pull, size, size * plan_.overlaps.size() + t, depth,
                                  wanted[c], share, parts[c]);
            }
        });
        for (std::size_t c = first; c < end; ++c) {
            for (std::size_t i = 0; i < parts[c].size(); ++i) sums[i] += parts[c][i];
            parts[c] = {};
        }
    }
    return sums;
}

}  // namespace cranfield::regions
