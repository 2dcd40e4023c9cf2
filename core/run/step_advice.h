// What makes the steps of a run smaller: the setting that acts in this run, and what it says now. Warnings about what the
// time step did end with it.
#pragma once

#include <string>

#include "core/scene/runs/run_record.h"

namespace exemplar {

// From the record's settings after defaults: "a smaller time.accuracy (0.01 now)" where the steps follow the accuracy, else
// "more time.steps_per_frame (4 now)".
std::string advice_for_smaller_steps(const RunRecord& record);

}  // namespace exemplar
