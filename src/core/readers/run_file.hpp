// Evaluating a run while it is read: only one topic per thread is in memory at a time.
#pragma once

#include <string>
#include <vector>

#include "evaluate.hpp"
#include "readers/lines.hpp"
#include "readers/source.hpp"

namespace cranfield {

struct RunFileResult {
    std::vector<std::string> unjudged_topics;
    std::string tag;         // the run's name, as its last line has it
    bool scattered = false;  // a topic's lines do not stand together: the values are not valid
    Stop stop = Stop::not_stopped;
};

RunFileResult evaluate_source(const JudgementIndex& index, Source& source,
                              const Programme& programme, const Options& options, unsigned jobs,
                              bool extra_fields, double* values, std::uint8_t* present,
                              Problems& problems, Progress& progress);

}  // namespace cranfield
