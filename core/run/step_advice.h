// What makes the steps of a run smaller: the setting that acts in this run, and what it says now. Warnings about what the
// time step did end with it.
#pragma once

#include <string>

#include "core/scene/runs/run_record.h"

namespace exemplar {

// The three there are: let the steps follow the accuracy, a smaller accuracy, more steps.
std::string advice_to_follow(int steps_per_frame);
std::string advice_for_accuracy(double accuracy);
std::string advice_for_more(int steps_per_frame);

// Which of them, from the record's settings after defaults.
std::string advice_for_smaller_steps(const RunRecord& record);

}  // namespace exemplar
