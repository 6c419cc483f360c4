// The descriptors of pictures, as Python sees them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "features/distances.hpp"
#include "features/run_text.hpp"
#include "features/table.hpp"

namespace cranfield::binding {

namespace {

using Pixels = nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

nb::list py_describe_picture(const std::vector<std::string>& names, const Pixels& pixels) {
    if (pixels.shape(2) != 3) throw std::invalid_argument("expected rows of R, G, B");
    if (pixels.shape(0) == 0 || pixels.shape(1) == 0)
        throw std::invalid_argument("a picture without pixels");
    const features::Picture picture{pixels.data(), pixels.shape(1), pixels.shape(0)};
    std::vector<std::vector<double>> vectors;
    std::vector<features::Kernel> kernels;
    for (const std::string& name : names) {
        const features::Entry* entry = features::find(name);
        if (entry == nullptr) throw std::invalid_argument("no descriptor kernel " + name);
        vectors.emplace_back(entry->length);
        kernels.push_back(entry->kernel);
    }
    {
        const nb::gil_scoped_release unlocked;
        std::vector<double*> out;
        for (auto& vector : vectors) out.push_back(vector.data());
        features::describe(picture, kernels, out);
    }
    nb::list found;
    for (auto& vector : vectors) found.append(to_numpy(std::move(vector)));
    return found;
}

template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using features::Groups;
using features::Nearest;

template <class T>
features::Rows<T> rows_of(const In2<T>& array) {
    return {array.data(), array.shape(0), array.shape(1)};
}

nb::object py_pair_distances(const std::string& kernel, const In2<double>& queries,
                             const In2<double>& items, const Groups& groups, unsigned jobs) {
    std::vector<double> found(queries.shape(0) * items.shape(0));
    {
        const nb::gil_scoped_release unlocked;
        features::pair_distances(kernel, rows_of(queries), rows_of(items), groups, jobs,
                                 found.data());
    }
    return to_numpy(std::move(found), {queries.shape(0), items.shape(0)});
}

nb::object py_chosen_distances(const std::string& kernel, const In2<double>& queries,
                               const In2<double>& items, const Groups& groups,
                               const In2<std::int64_t>& chosen, unsigned jobs) {
    std::vector<double> found(chosen.shape(0) * chosen.shape(1));
    {
        const nb::gil_scoped_release unlocked;
        features::chosen_distances(kernel, rows_of(queries), rows_of(items), groups,
                                   rows_of(chosen), jobs, found.data());
    }
    return to_numpy(std::move(found), {chosen.shape(0), chosen.shape(1)});
}

std::vector<std::string_view> texts_of(const nb::list& list) {
    std::vector<std::string_view> texts;
    texts.reserve(list.size());
    for (const nb::handle text : list) texts.push_back(utf8_of(text));
    return texts;
}

nb::bytes py_run_text(const nb::list& topics, const nb::list& items,
                      const In2<std::int64_t>& chosen, const In2<double>& scores,
                      const std::string& tag) {
    const auto topic_texts = texts_of(topics), item_texts = texts_of(items);
    std::string text;
    {
        const nb::gil_scoped_release unlocked;
        text = features::run_text(topic_texts, item_texts, rows_of(chosen), rows_of(scores), tag);
    }
    return nb::bytes(text.data(), text.size());
}

void bind_nearest(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Nearest>(m, "Nearest")
        .def(nb::init<std::size_t, std::size_t>(), "queries"_a, "k"_a)
        .def(
            "add",
            [](Nearest& self, const std::string& kernel, const In2<float>& queries,
               const In2<float>& items, const Groups& groups, std::int64_t first, unsigned jobs) {
                const nb::gil_scoped_release unlocked;
                self.add(kernel, rows_of(queries), rows_of(items), groups, first, jobs);
            },
            "kernel"_a, "queries"_a, "items"_a, "groups"_a, "first"_a, "jobs"_a)
        .def(
            "add_products",
            [](Nearest& self, const std::string& kernel, const In2<float>& products,
               const In1<float>& query_squares, const In1<float>& item_squares, std::int64_t first,
               unsigned jobs) {
                if (query_squares.size() != products.shape(0) ||
                    item_squares.size() != products.shape(1))
                    throw std::invalid_argument("squares do not fit the products");
                const nb::gil_scoped_release unlocked;
                self.add_products(kernel, rows_of(products), query_squares.data(),
                                  item_squares.data(), first, jobs);
            },
            "kernel"_a, "products"_a, "query_squares"_a, "item_squares"_a, "first"_a, "jobs"_a)
        .def("items", [](const Nearest& self) { return to_numpy(self.items()); })
        .def("reach", [](const Nearest& self) { return to_numpy(self.reach()); });
}

}  // namespace

void bind_features(nb::module_& m) {
    using namespace nb::literals;
    m.def("descriptor_kernels", [] {
        nb::dict lengths;
        for (const features::Entry& entry : features::entries())
            lengths[to_str(entry.name)] = entry.length;
        return lengths;
    });
    m.def("describe_picture", &py_describe_picture, "names"_a, "pixels"_a);
    m.def("pair_distances", &py_pair_distances, "kernel"_a, "queries"_a, "items"_a, "groups"_a,
          "jobs"_a);
    m.def("chosen_distances", &py_chosen_distances, "kernel"_a, "queries"_a, "items"_a, "groups"_a,
          "chosen"_a, "jobs"_a);
    m.def("run_text", &py_run_text, "topics"_a, "items"_a, "chosen"_a, "scores"_a, "tag"_a);
    bind_nearest(m);
}

}  // namespace cranfield::binding
