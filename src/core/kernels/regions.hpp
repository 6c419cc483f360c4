// Boxes that a run placed, matched with those of the truth, and what follows from the matches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/masks.hpp"

namespace cranfield::regions {

// Boxes of one side; x, y, width and height stand together.
struct Boxes {
    std::size_t count = 0;
    const std::int32_t* item = nullptr;
    const std::int32_t* label = nullptr;  // the concept
    const double* corners = nullptr;
    const double* numbers = nullptr;      // areas of the truth, confidences of a run
    const std::uint8_t* flags = nullptr;  // of the truth
    masks::Masks masks = {};              // what is compared in place of boxes, on both sides
};

constexpr std::uint8_t crowd = 1;      // a box around many objects
constexpr std::uint8_t difficult = 2;  // neither wanted nor wrong

enum class Rule { coco, voc };
enum class Points { recall_101, recall_11, all };

struct Plan {
    Rule rule = Rule::coco;
    std::vector<double> overlaps;                  // thresholds of the overlap
    std::vector<std::pair<double, double>> sizes;  // ranges of areas, with their ends
    std::uint32_t depth = 100;                     // boxes of an item and a concept; 0 is all
    bool partners = false;                         // also which box of the truth each one meets
};

// What became of the boxes that a run placed for a concept, the surest first.
struct Outcomes {
    std::vector<std::int32_t> placed;   // positions among the run's boxes
    std::vector<std::int32_t> partner;  // positions among those of the truth, -1 for none
    std::vector<std::uint8_t> fate;     // 0 wrong, 1 right, 2 ignored
};

enum class Kind { precision, recall, f, localisation, quality };

// The value of which items are asked how far they pull it.
struct Pull {
    Kind kind = Kind::precision;
    double confidence = 0;  // of F, localisation and quality; NaN for the best localisation
    double beta = 1;
};

// The matches of a run under every threshold and range of a plan.
class Matches {
  public:
    Matches(const Boxes& truth, const Boxes& run, std::size_t concepts, const Plan& plan,
            unsigned jobs);

    // [concept][threshold]; NaN for concepts without a box in the range. `weights` say how often
    // each item counts; without them each counts once.
    std::vector<double> precision(std::size_t size, std::uint32_t depth, Points points,
                                  std::span<const double> weights, unsigned jobs) const;
    std::vector<double> recall(std::size_t size, std::uint32_t depth,
                               std::span<const double> weights, unsigned jobs) const;

    // Van Rijsbergen's F of the boxes that are at least so sure.
    std::vector<double> f_measure(std::size_t size, std::uint32_t depth, double confidence,
                                  double beta, std::span<const double> weights,
                                  unsigned jobs) const;
    // The localisation recall precision error of the boxes that are at least so sure; with NaN,
    // the least that any confidence gives. Only of plans with partners.
    std::vector<double> localisation(std::size_t size, std::uint32_t depth, double confidence,
                                     std::span<const double> weights, unsigned jobs) const;
    // Panoptic quality: the overlaps of the right boxes over the mean of all boxes and objects.
    // Only of plans with partners.
    std::vector<double> quality(std::size_t size, std::uint32_t depth, double confidence,
                                std::span<const double> weights, unsigned jobs) const;
    Outcomes outcomes(std::size_t label, std::size_t size, std::size_t threshold) const;

    // How far the weight of each of `items` items pulls the mean over concepts and `overlaps`
    // (positions of thresholds): its derivative, where every item counts once. That of average
    // precision is of the area under all points of recall.
    std::vector<double> influence(const Pull& pull, std::size_t size, std::uint32_t depth,
                                  std::span<const std::size_t> overlaps, std::size_t items,
                                  unsigned jobs) const;

    bool has_partners() const { return plan_.partners; }
    std::size_t concepts() const { return concepts_.size(); }
    std::size_t thresholds() const { return plan_.overlaps.size(); }
    std::size_t sizes() const { return plan_.sizes.size(); }
    std::size_t items() const { return items_; }

  private:
    enum class Fate : std::uint8_t { wrong, right, ignored };
    struct Wanted {
        std::int32_t item;
        std::uint32_t count;
    };
    struct Concept {
        // The run's boxes, the surest first.
        std::vector<std::int32_t> item;
        std::vector<std::uint32_t> rank;  // within the item
        std::vector<double> confidence;
        std::vector<std::int32_t> placed;
        std::vector<std::vector<std::int32_t>> partner;  // as fates, where the plan wants them
        std::vector<std::vector<double>> share;          // the overlaps with those
        std::vector<std::vector<Fate>> fates;            // [size * thresholds + threshold]
        std::vector<std::vector<Wanted>> wanted;         // [size]
    };

    void match(Concept& target, const Boxes& truth, const Boxes& run,
               std::span<const std::uint32_t> wanted, std::span<const std::uint32_t> placed);
    void add_influence(const Concept& one, const Pull& pull, std::size_t size, std::size_t at,
                       std::uint32_t depth, double wanted, double share,
                       std::vector<double>& sums) const;
    template <class Value>
    std::vector<double> each(std::size_t size, std::span<const double> weights, unsigned jobs,
                             const Value& value) const;

    Plan plan_;
    std::size_t items_ = 0;
    std::vector<Concept> concepts_;
};

}  // namespace cranfield::regions
