// The comparison at one glance: which run comes closest, which is fastest. Only what can be compared is ranked: runs at
// their end without doubts, of methods that model what the study is about, that moved at all.
#pragma once

#include <string>
#include <vector>

#include "compare/results/collect.h"

namespace exemplar {

// A run that moved less than this share of what the reference moved is never "closest".
inline constexpr double k_least_motion = 0.1;

// Sets not_ranked of every run.
void rank_runs(Comparison& comparison);

struct Card {
  std::string what;
  std::vector<std::size_t> runs;  // several: equal within the reference's uncertainty
  std::string number;
};
std::vector<Card> cards_of(const Comparison& comparison);
Json cards_json(const Comparison& comparison);

// What is wrong with the references and what to do about it, one sentence each.
std::vector<std::string> reference_errors(const Comparison& comparison);
// How far the reference can be trusted, one neutral sentence.
std::string reference_note(const Comparison& comparison);

}  // namespace exemplar
