#include "compare/results/cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/study/capability_names.h"

namespace exemplar {

namespace {

const ComparedRun* reference_run(const Comparison& comparison, const ComparedRun& run) {
  for (const ComparedRun& other : comparison.runs) {
    if (other.data.plan.name == run.reference) return &other;
  }
  return nullptr;
}

// Below `least` of what the reference does; false where either is not known.
bool falls_short(double own, double of_reference, double least) {
  return std::isfinite(own) && std::isfinite(of_reference) && own < least * of_reference;
}

// Whether a certified reference was made of another scene than a run that takes the scene as it is.
bool is_out_of_date(const Comparison& comparison, const ComparedRun& reference) {
  if (reference.data.plan.file.empty()) return false;
  for (const ComparedRun& run : comparison.runs) {
    if (!run.data.is_done() || &run == &reference || !run.data.plan.settings.empty()) continue;
    return shared_scene(run.data) != shared_scene(reference.data);
  }
  return false;
}

std::string why_not_ranked(const Comparison& comparison, const ComparedRun& run) {
  if (!run.data.is_done()) return std::string(to_string(run.data.record.status));
  if (run.is_reference()) return "is the reference";
  if (!run.doubts.empty()) return "is doubtful: " + fmt::format("{}", fmt::join(run.doubts, "; "));
  const ComparedRun* reference = reference_run(comparison, run);
  if (!reference || !run.final_distances()) return "there is no reference to measure it against";
  if (!reference->doubts.empty()) return "the reference is doubtful";
  if (is_out_of_date(comparison, *reference)) return "the reference was made of another scene";
  if (!std::isfinite(run.final_uncertainty().rms)) return "the reference does not converge up to the end";
  if (!run.data.plan.capabilities.deformation) return "cannot deform";
  const std::vector<std::string> missing = lacking(run.data.plan.capabilities, comparison.study.about);
  if (!missing.empty()) return fmt::format("does not model {}", fmt::join(missing, ", "));
  const double own = run.largest_displacement(), wanted = reference->largest_displacement();
  if (falls_short(own, wanted, k_least_motion))
    return fmt::format("hardly moved: {:.0f} % of what the reference did", 100 * own / wanted);
  return {};
}

std::string speed_words(const ComparedRun& run) {
  if (!std::isfinite(run.cost_ratio)) return duration_text(run.wall_time());
  return run.cost_ratio <= 1 ? fmt::format("{:.3g} × faster", 1 / run.cost_ratio)
                             : fmt::format("{:.3g} × slower", run.cost_ratio);
}

class CardMaker {
 public:
  explicit CardMaker(const Comparison& comparison) : m_comparison(comparison) {
    for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
      const ComparedRun& run = comparison.runs[i];
      if (run.not_ranked.empty()) m_ranked.push_back(i);
      if (run.not_ranked.empty() && !keeps_its_shape(run)) m_shaped.push_back(i);
      const bool is_sound = run.data.is_done() && run.doubts.empty() && run.final_distances();
      if (is_sound && !run.is_reference() && !run.data.plan.capabilities.deformation) m_rigid.push_back(i);
    }
  }

  std::vector<Card> cards() {
    add_reference();
    const auto rms = [](const ComparedRun& run) { return run.final_distances()->rms; };
    const auto aligned = [](const ComparedRun& run) { return run.final_distances()->rms_aligned; };
    const auto time = [](const ComparedRun& run) { return run.wall_time(); };
    const std::string rest =
        m_ranked.size() + 1 < m_comparison.runs.size() ? ", of those that are ranked" : "";
    const auto band = [](const ComparedRun& run) { return run.final_uncertainty().rms; };
    const auto shape_band = [](const ComparedRun& run) { return run.final_uncertainty().rms_aligned; };
    const auto exact = [](const ComparedRun&) { return 0.0; };
    const std::vector<std::size_t> closest =
        add("Closest to it at the end" + rest, m_ranked, rms, band, [&](const ComparedRun& run) {
          return fmt::format("{} apart (RMS), {}", distance_text(rms(run), band(run)), speed_words(run));
        });
    const std::vector<std::size_t> shape = best(m_shaped, aligned, shape_band);
    if (shape != closest)
      add("Closest in shape alone" + rest, m_shaped, aligned, shape_band, [&](const ComparedRun& run) {
        return fmt::format("{} after alignment, {}", distance_text(aligned(run), shape_band(run)),
                           speed_words(run));
      });
    if (best(m_ranked, time, exact) != closest)
      add("Fastest" + rest, m_ranked, time, exact, [&](const ComparedRun& run) {
        return fmt::format("{}, {} apart", duration_text(run.wall_time()),
                           distance_text(rms(run), band(run)));
      });
    add("Motion only: cannot deform", m_rigid, time, exact, [&](const ComparedRun& run) {
      return fmt::format("{}, {} apart", duration_text(run.wall_time()), distance_text(rms(run), band(run)));
    });
    return std::move(m_cards);
  }

 private:
  const ComparedRun& run(std::size_t i) const { return m_comparison.runs[i]; }

  bool keeps_its_shape(const ComparedRun& one) const {
    const ComparedRun* reference = reference_run(m_comparison, one);
    return reference && falls_short(one.largest_change(), reference->largest_change(), k_least_motion);
  }

  void add_reference() {
    for (std::size_t i = 0; i < m_comparison.runs.size(); ++i) {
      if (!run(i).is_reference() || !run(i).data.is_done()) continue;
      const std::optional<double> factor = run(i).data.record.real_time_factor;
      const std::string rate =
          factor && std::isfinite(*factor) ? fmt::format(", {:.3g} × real time", *factor) : "";
      m_cards.push_back({"Reference", {i}, duration_text(run(i).wall_time()) + rate});
      return;
    }
  }

  // The run with the smallest value and those that the reference cannot tell from it.
  template <class Value, class Band>
  std::vector<std::size_t> best(const std::vector<std::size_t>& list, const Value& value,
                                const Band& band) const {
    std::vector<std::size_t> sorted;
    for (const std::size_t i : list) {
      if (std::isfinite(value(run(i)))) sorted.push_back(i);
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::size_t a, std::size_t b) { return value(run(a)) < value(run(b)); });
    std::erase_if(sorted, [&, first = sorted.empty() ? 0 : sorted.front()](std::size_t i) {
      return i != first && value(run(i)) - value(run(first)) > band(run(i));
    });
    return sorted;
  }

  template <class Value, class Band, class Words>
  std::vector<std::size_t> add(const std::string& what, const std::vector<std::size_t>& list,
                               const Value& value, const Band& band, const Words& words) {
    const std::vector<std::size_t> found = best(list, value, band);
    if (!found.empty()) m_cards.push_back({what, found, words(run(found.front()))});
    return found;
  }

  const Comparison& m_comparison;
  std::vector<std::size_t> m_ranked, m_shaped, m_rigid;
  std::vector<Card> m_cards;
};

// Of any run from its reference at the end, RMS, m.
double largest_distance(const Comparison& comparison) {
  double largest = 0;
  for (const ComparedRun& run : comparison.runs) {
    if (!run.is_reference() && run.final_distances())
      largest = std::fmax(largest, run.final_distances()->rms);
  }
  return largest;
}

}  // namespace

void rank_runs(Comparison& comparison) {
  for (ComparedRun& run : comparison.runs) run.not_ranked = why_not_ranked(comparison, run);
}

std::vector<Card> cards_of(const Comparison& comparison) {
  return CardMaker(comparison).cards();
}

std::vector<std::string> reference_errors(const Comparison& comparison) {
  std::vector<std::string> errors;
  for (const ComparedRun& run : comparison.runs) {
    if (!run.is_reference()) continue;
    if (is_out_of_date(comparison, run))
      errors.push_back(
          fmt::format("the scene has changed since the reference '{}' was made; what helps: exemplar certify",
                      run.data.plan.name));
    for (std::size_t i = 0; i < run.doubts.size(); ++i)
      errors.push_back(fmt::format("the reference '{}' cannot be trusted: {}; what helps: {}",
                                   run.data.plan.name, run.doubts[i], run.cures[i]));
  }
  return errors;
}

std::string reference_note(const Comparison& comparison) {
  const bool has_one = std::any_of(comparison.runs.begin(), comparison.runs.end(),
                                   [](const ComparedRun& run) { return run.is_reference(); });
  if (!has_one) return {};
  for (const ComparedRun& run : comparison.runs) {
    if (!run.is_reference() || run.data.plan.file.empty() || run.uncertainties.empty()) continue;
    const double end = run.uncertainties.back().rms;
    const double largest = largest_distance(comparison);
    return std::isfinite(end)
               ? fmt::format(
                     "The reference is certified: at the end its surface is within {} (RMS) of its limit{}.",
                     length_text(end),
                     largest > 0
                         ? fmt::format(", {:.2g} % of the largest distance shown", 100 * end / largest)
                         : "")
               : "The reference is certified, but does not converge up to the end: " +
                     fmt::format("{}", fmt::join(run.data.notes(Severity::note), "; ")) + ".";
  }
  return "The reference is a run like the others: how far it is from its own limit was not measured.";
}

}  // namespace exemplar
