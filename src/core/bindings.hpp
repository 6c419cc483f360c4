// What the parts of the Python module share: arrays that own their memory, lists of text.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "evaluate.hpp"
#include "readers/table.hpp"

namespace cranfield::binding {

namespace nb = nanobind;

template <class T>
using Array1 = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using In1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Hands a vector over to Python without a copy; text is shown as bytes.
template <class Framework, class T>
nb::object hand_over(std::vector<T>&& values, std::vector<std::size_t> shape) {
    using Shown = std::conditional_t<std::is_same_v<T, char>, std::uint8_t, T>;
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (shape.empty()) shape = {owned->size()};
    return nb::cast(nb::ndarray<Framework, Shown>(reinterpret_cast<Shown*>(owned->data()),
                                                  shape.size(), shape.data(), owner));
}

template <class T>
nb::object to_numpy(std::vector<T>&& values, std::vector<std::size_t> shape = {}) {
    return hand_over<nb::numpy>(std::move(values), std::move(shape));
}

// The same as a memoryview, for results that may be needed before numpy is loaded.
template <class T>
nb::object to_view(std::vector<T>&& values, std::vector<std::size_t> shape = {}) {
    return hand_over<nb::memview>(std::move(values), std::move(shape));
}

inline nb::str to_str(std::string_view text) {
    // Ids are checked when they are read, but the texts of problems may hold anything.
    PyObject* object =
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
    if (object == nullptr) throw nb::python_error();
    return nb::steal<nb::str>(object);
}

// The UTF-8 bytes of a Python string; they live as long as the string.
inline std::string_view utf8_of(nb::handle text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    return {data, static_cast<std::size_t>(size)};
}

// The kernels over items x concepts.
void bind_labels(nb::module_& m);
// Names of kernels and their parameters.
using Calls = std::vector<std::pair<std::string, std::vector<double>>>;

Options options_of(const std::string& ties, bool judged_only, std::int64_t max_items, bool check);
nb::tuple table_to_python(Table&& table);
std::vector<Id> ids_of(const nb::list& names);
Columns columns_of(const nb::list& topics, const In1<std::int64_t>& offsets,
                   const In1<std::uint8_t>& item_bytes, const In1<std::int64_t>& item_offsets,
                   const In1<double>& values);

// Columns of text and numbers (bind_columns.cpp).
void bind_columns(nb::module_& m);
// The reader of separated text (bind_separated.cpp).
void bind_separated(nb::module_& m);
// Evaluation of nested dicts (bind_dicts.cpp).
void bind_dicts(nb::module_& m);
// The kernels of relatedness.
void bind_relatedness(nb::module_& m);
// Draws of a truth with probabilities (bind_draws.cpp).
void bind_draws(nb::module_& m);
// Resamples of pairs of runs (bind_resampling.cpp).
void bind_resampling(nb::module_& m);
// The descriptors of pictures.
void bind_features(nb::module_& m);
// The matching of boxes (bind_regions.cpp).
void bind_regions(nb::module_& m);
// The writers of tables and labels (bind_writers.cpp).
void bind_writers(nb::module_& m);

}  // namespace cranfield::binding
