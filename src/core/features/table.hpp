// Every descriptor's kernel by name: a pure function of a picture that fills `length` numbers,
// which are zero before.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "features/picture.hpp"

namespace cranfield::features {

using Kernel = void (*)(const Picture&, double*);

struct Entry {
    std::string_view name;
    std::size_t length;
    Kernel kernel;
};

const Entry* find(std::string_view name);
const std::vector<Entry>& entries();

// Several descriptors of one picture; what two of them have in common is computed once.
void describe(const Picture& picture, const std::vector<Kernel>& chosen,
              const std::vector<double*>& out);

namespace kernels {
void cedd(const Picture&, double*);
void compact_cedd(const Picture&, double*);
void fcth(const Picture&, double*);
void compact_fcth(const Picture&, double*);
void both_cedd(const Picture&, double* full, double* compact);
void both_fcth(const Picture&, double* full, double* compact);
void jcd(const Picture&, double*);
// The same from vectors that are there already.
void join_cedd_fcth(const double* cedd, const double* fcth, double* jcd);
void edge_histogram(const Picture&, double*);
void edge_histogram_lire(const Picture&, double*);
void edge_histogram_xm(const Picture&, double*);
void colour_layout(const Picture&, double*);
void colour_layout_lire(const Picture&, double*);
void scalable_colour(const Picture&, double*);
void scalable_colour_lire(const Picture&, double*);
void rgb_histogram(const Picture&, double*);
void hsv_histogram(const Picture&, double*);
void opponent_histogram(const Picture&, double*);
void correlogram(const Picture&, double*);
void correlogram_lire(const Picture&, double*);
void tamura(const Picture&, double*);
void tamura_lire(const Picture&, double*);
void local_binary_patterns(const Picture&, double*);
void gradient_pyramid(const Picture&, double*);
void gradient_pyramid_lire(const Picture&, double*);
void spatial_colours(const Picture&, double*);
void brightness_directions(const Picture&, double*);
}  // namespace kernels

}  // namespace cranfield::features
