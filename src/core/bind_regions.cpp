// The matching of boxes, as Python sees it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings.hpp"
#include "kernels/regions.hpp"
#include "readers/coco.hpp"

namespace cranfield::binding {

namespace {

using In2 = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

regions::Boxes boxes_of(const In1<std::int32_t>& item, const In1<std::int32_t>& label,
                        const In2& corners, const In1<double>& numbers, std::size_t concepts) {
    const std::size_t count = item.shape(0);
    if (label.shape(0) != count || corners.shape(0) != count || corners.shape(1) != 4 ||
        numbers.shape(0) != count)
        throw std::invalid_argument("columns of boxes do not fit together");
    for (std::size_t i = 0; i < count; ++i)
        if (item.data()[i] < 0 || label.data()[i] < 0 ||
            static_cast<std::size_t>(label.data()[i]) >= concepts)
            throw std::invalid_argument("a box has no such item or concept");
    return {count, item.data(), label.data(), corners.data(), numbers.data(), nullptr};
}

using MaskColumns =
    std::tuple<In1<std::uint32_t>, In1<std::int64_t>, In1<std::uint32_t>, In1<std::int64_t>>;

masks::Masks masks_of(const In1<std::uint32_t>& runs, const In1<std::int64_t>& starts,
                      std::size_t count) {
    if (starts.shape(0) != count + 1 || starts.data()[0] != 0 ||
        static_cast<std::size_t>(starts.data()[count]) != runs.shape(0))
        throw std::invalid_argument("masks do not fit their boxes");
    for (std::size_t i = 0; i < count; ++i)
        if (starts.data()[i] > starts.data()[i + 1])
            throw std::invalid_argument("masks do not fit their boxes");
    return {runs.data(), starts.data()};
}

// Masks on their way from a file: they are added one by one.
class MaskList {
  public:
    bool add_text(const nb::bytes& text, std::uint32_t height, std::uint32_t width) {
        check(height, width);
        if (!masks::from_text({text.c_str(), text.size()}, height, width, mask_)) return false;
        append(height);
        return true;
    }
    bool add_runs(const std::vector<std::int64_t>& runs, std::uint32_t height,
                  std::uint32_t width) {
        check(height, width);
        std::int64_t left = std::int64_t{height} * width;
        mask_.clear();
        for (const std::int64_t length : runs) {
            if (length < 0 || length > left) return false;
            left -= length;
            mask_.push_back(static_cast<std::uint32_t>(length));
        }
        if (left != 0) return false;
        append(height);
        return true;
    }
    void add_polygons(const std::vector<std::vector<double>>& polygons, std::uint32_t height,
                      std::uint32_t width) {
        check(height, width);
        mask_.assign(1, height * width);
        for (const std::vector<double>& polygon : polygons) {
            if (polygon.size() < 6 || polygon.size() % 2 != 0)
                throw std::invalid_argument("a polygon has three corners or more");
            for (const double place : polygon)
                if (!(std::fabs(place) <= farthest))
                    throw std::invalid_argument("a polygon lies far away");
            mask_ = masks::joined(mask_, masks::from_polygon(polygon, height, width));
        }
        append(height);
    }
    // The runs of all masks and where each begins, their pixels, and the boxes around them.
    nb::object columns() {
        const std::size_t count = areas_.size();
        return nb::make_tuple(to_numpy(std::move(runs_)), to_numpy(std::move(starts_)),
                              to_numpy(std::move(areas_)), to_numpy(std::move(boxes_), {count, 4}));
    }

  private:
    static constexpr double farthest = 1e6;  // pixels: corners are walked to

    static void check(std::uint32_t height, std::uint32_t width) {
        if (std::uint64_t{height} * width >= (std::uint64_t{1} << 32))
            throw std::invalid_argument("a picture has more than 2^32 pixels");
    }
    void append(std::uint32_t height) {
        const masks::Bounds box = masks::bounds(mask_, height);
        runs_.insert(runs_.end(), mask_.begin(), mask_.end());
        starts_.push_back(static_cast<std::int64_t>(runs_.size()));
        areas_.push_back(static_cast<double>(masks::area(mask_)));
        for (const std::uint32_t side : {box.x, box.y, box.width, box.height})
            boxes_.push_back(side);
    }

    std::vector<std::uint32_t> mask_, runs_;
    std::vector<std::int64_t> starts_{0};
    std::vector<double> areas_, boxes_;
};

regions::Rule rule_of(const std::string& name) {
    if (name == "coco") return regions::Rule::coco;
    if (name == "voc") return regions::Rule::voc;
    throw std::invalid_argument("no rule of matching named " + name);
}

regions::Points points_of(const std::string& name) {
    if (name == "101") return regions::Points::recall_101;
    if (name == "11") return regions::Points::recall_11;
    if (name == "all") return regions::Points::all;
    throw std::invalid_argument("no points of recall named " + name);
}

regions::Kind kind_of(const std::string& name) {
    if (name == "precision") return regions::Kind::precision;
    if (name == "recall") return regions::Kind::recall;
    if (name == "f") return regions::Kind::f;
    if (name == "localisation") return regions::Kind::localisation;
    if (name == "quality") return regions::Kind::quality;
    throw std::invalid_argument("no value of matches named " + name);
}

std::span<const double> weights_of(const regions::Matches& self, std::size_t size,
                                   const In1<double>& weights) {
    if (size >= self.sizes()) throw std::invalid_argument("no such range of sizes");
    if (weights.shape(0) != 0 && weights.shape(0) < self.items())
        throw std::invalid_argument("weights do not fit the items");
    return {weights.data(), weights.shape(0)};
}

template <class Work>
nb::object table_of(const regions::Matches& self, const Work& work) {
    std::vector<double> values;
    {
        const nb::gil_scoped_release free;
        values = work();
    }
    return to_numpy(std::move(values), {self.concepts(), self.thresholds()});
}

void check_partners(const regions::Matches& self) {
    if (!self.has_partners()) throw std::invalid_argument("the matches have no partners");
}

// Nothing, or: whether these are results, ids, images, categories, boxes, areas or confidences,
// crowds, and where the other lists stand.
nb::object py_coco_boxes(const nb::bytes& text) {
    CocoBoxes boxes;
    bool good = false;
    {
        const std::string_view view(text.c_str(), text.size());
        const nb::gil_scoped_release release;
        good = read_coco(view, boxes);
    }
    if (!good) return nb::none();
    const std::size_t count = boxes.images.size();
    nb::dict others;
    for (const auto& [name, range] : boxes.others) others[to_str(name)] = nb::cast(range);
    return nb::make_tuple(
        boxes.results, to_numpy(std::move(boxes.ids)), to_numpy(std::move(boxes.images)),
        to_numpy(std::move(boxes.categories)), to_numpy(std::move(boxes.corners), {count, 4}),
        to_numpy(std::move(boxes.numbers)), to_numpy(std::move(boxes.crowds)), others);
}

}  // namespace

void bind_regions(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<regions::Matches>(m, "RegionMatches")
        .def(
            "__init__",
            [](regions::Matches* self, const In1<std::int32_t>& truth_items,
               const In1<std::int32_t>& truth_concepts, const In2& truth_boxes,
               const In1<double>& areas, const In1<std::uint8_t>& flags,
               const In1<std::int32_t>& items, const In1<std::int32_t>& labels, const In2& boxes,
               const In1<double>& confidences, std::size_t concepts, const std::string& rule,
               const std::vector<double>& overlaps,
               const std::vector<std::pair<double, double>>& sizes, std::uint32_t depth,
               bool partners, unsigned jobs, const std::optional<MaskColumns>& masks) {
                regions::Boxes truth =
                    boxes_of(truth_items, truth_concepts, truth_boxes, areas, concepts);
                if (flags.shape(0) != truth.count)
                    throw std::invalid_argument("columns of boxes do not fit together");
                truth.flags = flags.data();
                regions::Boxes run = boxes_of(items, labels, boxes, confidences, concepts);
                if (masks) {
                    const auto& [truth_runs, truth_starts, runs, starts] = *masks;
                    truth.masks = masks_of(truth_runs, truth_starts, truth.count);
                    run.masks = masks_of(runs, starts, run.count);
                }
                const regions::Plan plan{rule_of(rule), overlaps, sizes, depth, partners};
                const nb::gil_scoped_release free;
                new (self) regions::Matches(truth, run, concepts, plan, jobs);
            },
            "truth_items"_a, "truth_concepts"_a, "truth_boxes"_a, "areas"_a, "flags"_a, "items"_a,
            "labels"_a, "boxes"_a, "confidences"_a, "concepts"_a, "rule"_a, "overlaps"_a, "sizes"_a,
            "depth"_a, "partners"_a, "jobs"_a, "masks"_a = nb::none())
        .def(
            "precision",
            [](const regions::Matches& self, std::size_t size, std::uint32_t depth,
               const std::string& points, const In1<double>& weights, unsigned jobs) {
                const auto shares = weights_of(self, size, weights);
                const auto levels = points_of(points);
                return table_of(self,
                                [&] { return self.precision(size, depth, levels, shares, jobs); });
            },
            "size"_a, "depth"_a, "points"_a, "weights"_a, "jobs"_a)
        .def(
            "recall",
            [](const regions::Matches& self, std::size_t size, std::uint32_t depth,
               const In1<double>& weights, unsigned jobs) {
                const auto shares = weights_of(self, size, weights);
                return table_of(self, [&] { return self.recall(size, depth, shares, jobs); });
            },
            "size"_a, "depth"_a, "weights"_a, "jobs"_a)
        .def(
            "f_measure",
            [](const regions::Matches& self, std::size_t size, std::uint32_t depth,
               double confidence, double beta, const In1<double>& weights, unsigned jobs) {
                const auto shares = weights_of(self, size, weights);
                return table_of(self, [&] {
                    return self.f_measure(size, depth, confidence, beta, shares, jobs);
                });
            },
            "size"_a, "depth"_a, "confidence"_a, "beta"_a, "weights"_a, "jobs"_a)
        .def(
            "localisation",
            [](const regions::Matches& self, std::size_t size, std::uint32_t depth,
               double confidence, const In1<double>& weights, unsigned jobs) {
                const auto shares = weights_of(self, size, weights);
                check_partners(self);
                return table_of(
                    self, [&] { return self.localisation(size, depth, confidence, shares, jobs); });
            },
            "size"_a, "depth"_a, "confidence"_a, "weights"_a, "jobs"_a)
        .def(
            "quality",
            [](const regions::Matches& self, std::size_t size, std::uint32_t depth,
               double confidence, const In1<double>& weights, unsigned jobs) {
                const auto shares = weights_of(self, size, weights);
                check_partners(self);
                return table_of(
                    self, [&] { return self.quality(size, depth, confidence, shares, jobs); });
            },
            "size"_a, "depth"_a, "confidence"_a, "weights"_a, "jobs"_a)
        .def(
            "influence",
            [](const regions::Matches& self, const std::string& kind, std::size_t size,
               std::uint32_t depth, const std::vector<std::size_t>& overlaps, double confidence,
               double beta, std::size_t items, unsigned jobs) {
                const regions::Pull pull{kind_of(kind), confidence, beta};
                if (pull.kind == regions::Kind::localisation || pull.kind == regions::Kind::quality)
                    check_partners(self);
                if (size >= self.sizes() || items < self.items())
                    throw std::invalid_argument("no such range of sizes, or too few items");
                for (const std::size_t threshold : overlaps)
                    if (threshold >= self.thresholds())
                        throw std::invalid_argument("no such threshold");
                std::vector<double> sums;
                {
                    const nb::gil_scoped_release free;
                    sums = self.influence(pull, size, depth, overlaps, items, jobs);
                }
                return to_numpy(std::move(sums));
            },
            "kind"_a, "size"_a, "depth"_a, "overlaps"_a, "confidence"_a, "beta"_a, "items"_a,
            "jobs"_a)
        .def(
            "outcomes",
            [](const regions::Matches& self, std::size_t label, std::size_t size,
               std::size_t threshold) {
                check_partners(self);
                if (label >= self.concepts() || size >= self.sizes() ||
                    threshold >= self.thresholds())
                    throw std::invalid_argument("no such concept, range of sizes or threshold");
                regions::Outcomes result = self.outcomes(label, size, threshold);
                return nb::make_tuple(to_numpy(std::move(result.placed)),
                                      to_numpy(std::move(result.partner)),
                                      to_numpy(std::move(result.fate)));
            },
            "label"_a, "size"_a, "threshold"_a);
    nb::class_<MaskList>(m, "MaskList")
        .def(nb::init<>())
        .def("add_text", &MaskList::add_text, "text"_a, "height"_a, "width"_a)
        .def("add_runs", &MaskList::add_runs, "runs"_a, "height"_a, "width"_a)
        .def("add_polygons", &MaskList::add_polygons, "polygons"_a, "height"_a, "width"_a)
        .def("columns", &MaskList::columns);
    m.def("coco_boxes", &py_coco_boxes, "text"_a);
}

}  // namespace cranfield::binding
