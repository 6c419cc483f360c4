// Runs as text, in TREC's format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "features/distances.hpp"

namespace cranfield::features {

// A line `topic Q0 item rank score tag` for each item chosen for each topic; -1 is none. Scores
// have the digits they need to be read back as they are.
std::string run_text(const std::vector<std::string_view>& topics,
                     const std::vector<std::string_view>& items, const Rows<std::int64_t>& chosen,
                     const Rows<double>& scores, std::string_view tag);

}  // namespace cranfield::features
