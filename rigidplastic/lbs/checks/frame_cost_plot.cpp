#include "rigidplastic/lbs/checks/frame_cost_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace exemplar::lbs {

namespace {

constexpr double k_left = 60, k_top = 40, k_width = 640,
                 k_height = 300;  // of the area with the columns, pixels

// 1, 2 or 5 times a power of ten, no less than the value.
double round_up(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (value <= step * power) return step * power;
  }
  return 10 * power;
}

std::string label(double x, double y, const std::string& anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, text);
}

std::string bar(double x, double y, double width, double height, const char* colour) {
  return fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n", x,
                     y, width, height, colour);
}

constexpr const char* k_solver_colour = "#4477aa";
constexpr const char* k_deformation_colour = "#ee6677";

std::string axes(double most, std::size_t frames) {
  std::string text;
  for (int k = 0; k <= 4; ++k) {
    const double y = k_top + k_height * (1 - k / 4.0);
    text += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ccc\"/>\n",
                        k_left, k_left + k_width, y);
    text += label(k_left - 6, y + 4, "end", fmt::format("{:.3g}", most * k / 4));
  }
  text += label(k_left, k_top + k_height + 18, "middle", "1");
  text += label(k_left + k_width, k_top + k_height + 18, "middle", fmt::format("{}", frames));
  text += label(k_left + k_width / 2, k_top + k_height + 34, "middle", "frame");
  text += label(k_left, k_top - 8, "end", "ms");
  return text;
}

}  // namespace

std::vector<FrameCost> frame_costs_of(const std::vector<std::vector<double>>& phase_frames) {
  std::vector<FrameCost> costs;
  double bullet = 0, deformation = 0;
  for (const std::vector<double>& since_start : phase_frames) {
    costs.push_back({1e3 * (since_start[0] - bullet), 1e3 * (since_start[1] - deformation)});
    bullet = since_start[0];
    deformation = since_start[1];
  }
  return costs;
}

std::string frame_cost_table(const std::vector<FrameCost>& costs) {
  std::string text = "frame,bullet_ms,deformation_ms\n";
  for (std::size_t f = 0; f < costs.size(); ++f)
    text += fmt::format("{},{:.4f},{:.4f}\n", f + 1, costs[f].bullet, costs[f].deformation);
  return text;
}

std::string frame_cost_picture(const std::vector<FrameCost>& costs, const std::string& title) {
  double largest = 0;
  for (const FrameCost& cost : costs) largest = std::max(largest, cost.bullet + cost.deformation);
  const double most = round_up(largest),
               width = k_width / std::max<double>(1, static_cast<double>(costs.size()));
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"400\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"720\" height=\"400\" fill=\"white\"/>\n");
  text += label(k_left + k_width / 2, 18, "middle", title) + axes(most, costs.size());
  for (std::size_t f = 0; f < costs.size(); ++f) {
    const double x = k_left + width * static_cast<double>(f), solver = k_height * costs[f].bullet / most,
                 deformation = k_height * costs[f].deformation / most;
    text += bar(x, k_top + k_height - solver, width, solver, k_solver_colour);
    text += bar(x, k_top + k_height - solver - deformation, width, deformation, k_deformation_colour);
  }
  text += bar(k_left + 10, 46, 10, 10, k_deformation_colour) + label(k_left + 26, 55, "start", "deformation");
  text += bar(k_left + 10, 62, 10, 10, k_solver_colour) +
          label(k_left + 26, 71, "start", "rigid bodies (Bullet)");
  return text + "</svg>\n";
}

}  // namespace exemplar::lbs
