// Boxes in the JSON of COCO, straight into columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cranfield {

struct CocoBoxes {
    bool results = false;  // a list of results, not a truth
    std::vector<std::int64_t> ids, images, categories;
    std::vector<double> corners;  // x, y, width and height of each box
    std::vector<double> numbers;  // areas of a truth, confidences of results
    std::vector<std::uint8_t> crowds;
    // Where the lists that are not read here begin and end in the text: images and categories.
    std::vector<std::pair<std::string, std::pair<std::size_t, std::size_t>>> others;
};

// False for everything but plain JSON of that shape: records that lack a field, ids that are no
// whole numbers, keys with escapes, faults. The slow reader then says what is wrong.
bool read_coco(std::string_view text, CocoBoxes& boxes);

}  // namespace cranfield
