#include "features/distances.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "threads.hpp"
#include "wide.hpp"

namespace cranfield::features {

namespace {
constexpr std::size_t lanes = 16;

// Sums of term(a, b) in a fixed number of lanes, so that the order of additions is the same
// whatever the compiler makes of it.
template <class T, class Term>
CRANFIELD_ALONG T sum_of(const T* a, const T* b, std::size_t n, const Term& term) {
    std::array<T, lanes> sums{};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane)
            sums[lane] += term(a[i + lane], b[i + lane]);
    for (std::size_t lane = 0; i < n; ++i, ++lane) sums[lane] += term(a[i], b[i]);
    T sum = 0;
    for (const T part : sums) sum += part;
    return sum;
}

CRANFIELD_WIDE void l1_row(const float* a, const float* b, std::size_t n, float& out) {
    out = sum_of(a, b, n, [](float x, float y) { return std::abs(x - y); });
}
CRANFIELD_WIDE void l1_row(const double* a, const double* b, std::size_t n, double& out) {
    out = sum_of(a, b, n, [](double x, double y) { return std::abs(x - y); });
}
CRANFIELD_WIDE void squared_row(const float* a, const float* b, std::size_t n, float& out) {
    out = sum_of(a, b, n, [](float x, float y) { return (x - y) * (x - y); });
}
CRANFIELD_WIDE void squared_row(const double* a, const double* b, std::size_t n, double& out) {
    out = sum_of(a, b, n, [](double x, double y) { return (x - y) * (x - y); });
}
CRANFIELD_WIDE void product_row(const float* a, const float* b, std::size_t n, float& out) {
    out = sum_of(a, b, n, [](float x, float y) { return x * y; });
}
CRANFIELD_WIDE void product_row(const double* a, const double* b, std::size_t n, double& out) {
    out = sum_of(a, b, n, [](double x, double y) { return x * y; });
}

template <class T>
T product(const T* a, const T* b, std::size_t n) {
    T value;
    product_row(a, b, n, value);
    return value;
}

template <class T>
T l1(const T* a, const T* b, std::size_t n, const Groups&) {
    T value;
    l1_row(a, b, n, value);
    return value;
}

template <class T>
T squared(const T* a, const T* b, std::size_t n, const Groups&) {
    T value;
    squared_row(a, b, n, value);
    return value;
}

template <class T>
T l2(const T* a, const T* b, std::size_t n, const Groups& groups) {
    return std::sqrt(squared(a, b, n, groups));
}

// 100 - 100 T; two empty vectors are alike, an empty one is like no other.
template <class T>
T tanimoto_of(T ab, T aa, T bb) {
    // Zero for two empty vectors only; without a branch, so that many are computed at once.
    const T whole = aa + bb - ab;
    const T distance = 100 - 100 * (ab / (whole == 0 ? T{1} : whole));
    return whole == 0 || distance < 0 ? T{0} : distance;
}

template <class T>
T cosine_of(T ab, T aa, T bb) {
    if (aa == 0 && bb == 0) return 0;
    if (aa == 0 || bb == 0) return 1;
    return std::clamp(1 - ab / std::sqrt(aa * bb), T{0}, T{2});
}

template <class T>
T tanimoto(const T* a, const T* b, std::size_t n, const Groups&) {
    return tanimoto_of(product(a, b, n), product(a, a, n), product(b, b, n));
}

template <class T>
T cosine(const T* a, const T* b, std::size_t n, const Groups&) {
    return cosine_of(product(a, b, n), product(a, a, n), product(b, b, n));
}

template <class T>
T chi2(const T* a, const T* b, std::size_t n, const Groups&) {
    return sum_of(a, b, n, [](T x, T y) { return x + y > 0 ? (x - y) * (x - y) / (x + y) : T{0}; });
}

template <class T>
T jensen_shannon(const T* a, const T* b, std::size_t n, const Groups&) {
    const auto part = [](T x, T both) { return x > 0 ? x * std::log(2 * x / both) : T{0}; };
    const T sum = sum_of(a, b, n, [&](T x, T y) { return part(x, x + y) + part(y, x + y); });
    return std::max(T{0}, sum);
}

template <class T>
T relative(const T* a, const T* b, std::size_t n, const Groups&) {
    return sum_of(a, b, n, [](T x, T y) { return std::abs(x - y) / (1 + x + y); });
}

// How many terms of the query the item lacks; rows are 1 where there is a term, else 0.
template <class T>
T overlap(const T* query, const T* item, std::size_t n, const Groups&) {
    return sum_of(query, item, n, [](T x, T y) { return x * (1 - y); });
}

// 0 where the item has all terms of the query, else 1.
template <class T>
T inclusion(const T* query, const T* item, std::size_t n, const Groups& groups) {
    return std::min(T{1}, overlap(query, item, n, groups));
}

template <class T>
T grouped(const T* a, const T* b, std::size_t, const Groups& groups) {
    T sum = 0;
    std::size_t start = 0;
    for (const std::size_t length : groups) {
        sum += l2(a + start, b + start, length, groups);
        start += length;
    }
    return sum;
}

template <class T>
using Kernel = T (*)(const T*, const T*, std::size_t, const Groups&);

template <class T>
Kernel<T> find(std::string_view name) {
    static constexpr std::pair<std::string_view, Kernel<T>> table[] = {{"l1", l1<T>},
                                                                       {"l2", l2<T>},
                                                                       {"squared", squared<T>},
                                                                       {"tanimoto", tanimoto<T>},
                                                                       {"cosine", cosine<T>},
                                                                       {"chi2", chi2<T>},
                                                                       {"jsd", jensen_shannon<T>},
                                                                       {"relative", relative<T>},
                                                                       {"overlap", overlap<T>},
                                                                       {"inclusion", inclusion<T>},
                                                                       {"grouped", grouped<T>}};
    for (const auto& [known, kernel] : table)
        if (known == name) return kernel;
    return nullptr;
}

template <class T>
Kernel<T> checked(std::string_view name, const Rows<T>& queries, const Rows<T>& items,
                  const Groups& groups) {
    const Kernel<T> kernel = find<T>(name);
    if (kernel == nullptr) throw std::invalid_argument("no distance kernel " + std::string(name));
    if (queries.length != items.length) throw std::invalid_argument("vectors of two lengths");
    std::size_t sum = 0;
    for (const std::size_t length : groups) sum += length;
    if (name == "grouped" && sum != queries.length)
        throw std::invalid_argument("groups do not fit the vectors");
    return kernel;
}

// Calls work(i) for every i below n, on several threads.
template <class Work>
void each(std::size_t n, unsigned jobs, const Work& work) {
    std::atomic<std::size_t> next{0};
    on_threads(static_cast<unsigned>(std::min<std::size_t>(jobs, std::max<std::size_t>(n, 1))),
               [&] {
                   for (std::size_t i = next++; i < n; i = next++) work(i);
               });
}
}  // namespace

bool is_distance(std::string_view kernel) { return find<double>(kernel) != nullptr; }

void pair_distances(std::string_view name, const Rows<double>& queries, const Rows<double>& items,
                    const Groups& groups, unsigned jobs, double* out) {
    const Kernel<double> kernel = checked(name, queries, items, groups);
    each(queries.count, jobs, [&](std::size_t q) {
        for (std::size_t i = 0; i < items.count; ++i)
            out[items.count * q + i] = kernel(queries.row(q), items.row(i), items.length, groups);
    });
}

void chosen_distances(std::string_view name, const Rows<double>& queries, const Rows<double>& items,
                      const Groups& groups, const Rows<std::int64_t>& chosen, unsigned jobs,
                      double* out) {
    const Kernel<double> kernel = checked(name, queries, items, groups);
    if (chosen.count != queries.count) throw std::invalid_argument("choices do not fit");
    each(queries.count, jobs, [&](std::size_t q) {
        for (std::size_t i = 0; i < chosen.length; ++i) {
            const std::int64_t item = chosen.row(q)[i];
            if (item >= static_cast<std::int64_t>(items.count))
                throw std::invalid_argument("no such item");
            if (item >= 0)
                out[chosen.length * q + i] =
                    kernel(queries.row(q), items.row(static_cast<std::size_t>(item)), items.length,
                           groups);
        }
    });
}

void Nearest::offer(std::size_t query, float distance, std::int64_t item) {
    auto& kept = kept_[query];
    const Found found{distance, item};
    if (kept.size() < k_) {
        kept.push_back(found);
        std::push_heap(kept.begin(), kept.end());
    } else if (k_ > 0 && found < kept.front()) {
        std::pop_heap(kept.begin(), kept.end());
        kept.back() = found;
        std::push_heap(kept.begin(), kept.end());
    }
}

void Nearest::add(std::string_view name, const Rows<float>& queries, const Rows<float>& items,
                  const Groups& groups, std::int64_t first, unsigned jobs) {
    const Kernel<float> kernel = checked(name, queries, items, groups);
    if (queries.count != kept_.size()) throw std::invalid_argument("queries do not fit");
    // Items by parts that stay in the cache while the queries of a thread pass over them.
    constexpr std::size_t part = 256, group = 16;
    each((queries.count + group - 1) / group, jobs, [&](std::size_t g) {
        const std::size_t end = std::min(queries.count, (g + 1) * group);
        for (std::size_t start = 0; start < items.count; start += part) {
            const std::size_t stop = std::min(items.count, start + part);
            for (std::size_t q = g * group; q < end; ++q)
                for (std::size_t i = start; i < stop; ++i)
                    offer(q, kernel(queries.row(q), items.row(i), items.length, groups),
                          first + static_cast<std::int64_t>(i));
        }
    });
}

void Nearest::add_products(std::string_view name, const Rows<float>& products,
                           const float* query_squares, const float* item_squares,
                           std::int64_t first, unsigned jobs) {
    if (products.count != kept_.size()) throw std::invalid_argument("queries do not fit");
    const auto run = [&](const auto& distance) {
        each(products.count, jobs, [&](std::size_t q) {
            constexpr std::size_t together = 512;
            const float* row = products.row(q);
            const float own = query_squares[q];
            const auto& kept = kept_[q];
            float distances[together];
            for (std::size_t start = 0; start < products.length; start += together) {
                const std::size_t count = std::min(together, products.length - start);
                for (std::size_t i = 0; i < count; ++i)
                    distances[i] = distance(row[start + i], own, item_squares[start + i]);
                // Items come in order: one that is as far as the last kept does not replace it.
                for (std::size_t i = 0; i < count; ++i)
                    if (kept.size() < k_ || distances[i] < kept.front().first)
                        offer(q, distances[i], first + static_cast<std::int64_t>(start + i));
            }
        });
    };
    if (name == "tanimoto")
        run([](float ab, float aa, float bb) { return tanimoto_of(ab, aa, bb); });
    else if (name == "cosine")
        run([](float ab, float aa, float bb) { return cosine_of(ab, aa, bb); });
    else if (name == "l2")
        run([](float ab, float aa, float bb) { return std::max(0.0F, aa + bb - 2 * ab); });
    else
        throw std::invalid_argument("no distance of products " + std::string(name));
}

std::vector<std::int64_t> Nearest::items() const {
    std::vector<std::int64_t> found(kept_.size() * k_, -1);
    for (std::size_t q = 0; q < kept_.size(); ++q) {
        auto sorted = kept_[q];
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < sorted.size(); ++i) found[k_ * q + i] = sorted[i].second;
    }
    return found;
}

std::vector<float> Nearest::reach() const {
    std::vector<float> found;
    for (const auto& kept : kept_)
        found.push_back(kept.empty() ? std::numeric_limits<float>::infinity() : kept.front().first);
    return found;
}

}  // namespace cranfield::features
