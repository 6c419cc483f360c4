// Distances of vectors, and the nearest of many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace cranfield::features {

// Rows of numbers, one after the other.
template <class T>
struct Rows {
    const T* values;
    std::size_t count;
    std::size_t length;

    const T* row(std::size_t i) const { return values + length * i; }
};

// `groups` are the lengths of the parts whose Euclidean distances the kernel "grouped" adds up.
using Groups = std::vector<std::size_t>;

bool is_distance(std::string_view kernel);

// All distances of rows to rows, in out[query][item].
void pair_distances(std::string_view kernel, const Rows<double>& queries, const Rows<double>& items,
                    const Groups& groups, unsigned jobs, double* out);

// The distances of query i to the items whose numbers are in row i of `chosen`; -1 is none.
void chosen_distances(std::string_view kernel, const Rows<double>& queries,
                      const Rows<double>& items, const Groups& groups,
                      const Rows<std::int64_t>& chosen, unsigned jobs, double* out);

// Keeps the k nearest items of every query while blocks of items go by; of equal distances, the
// items that came first.
class Nearest {
  public:
    Nearest(std::size_t queries, std::size_t k) : k_(k), kept_(queries) {}

    // Distances of all queries to the items from number `first` on, by a kernel.
    void add(std::string_view kernel, const Rows<float>& queries, const Rows<float>& items,
             const Groups& groups, std::int64_t first, unsigned jobs);
    // The same from inner products, for the kernels "tanimoto", "cosine" and "l2"; the squares are
    // the inner products of rows with themselves.
    void add_products(std::string_view kernel, const Rows<float>& products,
                      const float* query_squares, const float* item_squares, std::int64_t first,
                      unsigned jobs);
    // The numbers of the items kept, nearest first, k a query; -1 where there are fewer.
    std::vector<std::int64_t> items() const;
    // The distance of the farthest item kept for each query, from which on others were left out.
    std::vector<float> reach() const;

  private:
    using Found = std::pair<float, std::int64_t>;
    void offer(std::size_t query, float distance, std::int64_t item);

    std::size_t k_;
    std::vector<std::vector<Found>> kept_;
};

}  // namespace cranfield::features
