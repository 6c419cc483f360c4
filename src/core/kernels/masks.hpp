// Masks as COCO has them: lengths of runs, column by column, that begin with what is outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace cranfield::masks {

using Runs = std::span<const std::uint32_t>;

// The masks of one side, one after the other; without starts there are none.
struct Masks {
    const std::uint32_t* runs = nullptr;
    const std::int64_t* starts = nullptr;

    Runs of(std::size_t i) const {
        return {runs + starts[i], static_cast<std::size_t>(starts[i + 1] - starts[i])};
    }
};

// Reads a text of packed runs. False where it is none of `height` x `width` pixels.
bool from_text(std::string_view text, std::uint32_t height, std::uint32_t width,
               std::vector<std::uint32_t>& runs);

// The pixels of a polygon as the COCO program has them; `xy` are x and y in turns.
std::vector<std::uint32_t> from_polygon(std::span<const double> xy, std::uint32_t height,
                                        std::uint32_t width);

// The pixels that are in either.
std::vector<std::uint32_t> joined(Runs a, Runs b);

struct Bounds {
    std::uint32_t x = 0, y = 0, width = 0, height = 0;
};

std::uint64_t area(Runs mask);
Bounds bounds(Runs mask, std::uint32_t height);

// How many pixels are in both.
std::uint64_t common(Runs a, Runs b);

}  // namespace cranfield::masks
