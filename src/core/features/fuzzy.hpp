// The fuzzy colours of CEDD and FCTH: how much of each of 10 or 24 colours a block has.
#pragma once

#include <array>

#include "features/picture.hpp"

namespace cranfield::features {

// Low and high, or more sets that overlap, of numbers from 0 to 255.
double trapezoid(double x, const std::array<double, 4>& corners);

using Colours10 = std::array<double, 10>;
using Colours24 = std::array<double, 24>;

// The colours of a block: all 24, made from the 10 of the compact forms.
struct Colours {
    Colours10 ten;
    Colours24 all;
};
Colours colours_of(int r, int g, int b);

// The share of each bin in the sum, then the index of the nearest of the eight values that the
// bin's region has. `regions` leads from a region to its row of `values`.
using Levels = std::array<double, 8>;
void quantise(const double* bins, std::size_t regions, std::size_t colours, const Levels* values,
              const int* row_of_region, double* out);

}  // namespace cranfield::features
