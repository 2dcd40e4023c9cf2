#include "compare/coupons/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compare/report/assets.h"
#include "compare/report/page_text.h"
#include "compare/results/collect.h"
#include "core/run/run_directory.h"

namespace exemplar::coupons {

namespace {

// Six digits are more than the page shows.
Json number_json(double value) {
  return std::isfinite(value) ? Json::parse(fmt::format("{:.6g}", value)) : Json(nullptr);
}

Json cell_json(const Cell& cell) {
  const auto known = [&](double value) { return cell.has_reading ? number_json(value) : Json(nullptr); };
  return {{"method", cell.method},
          {"quantity", cell.quantity},
          {"resolution", cell.resolution},
          {"outcome", to_string(cell.outcome)},
          {"measured", known(cell.measured)},
          {"expected", known(cell.expected)},
          {"error", known(cell.error)},
          {"cpu", number_json(cell.cpu_seconds)},
          {"reason", cell.reason},
          {"warnings", cell.warnings},
          {"warned", cell.is_warned}};
}

Json coupon_json(const Coupon& coupon) {
  Json quantities = Json::array();
  for (const Quantity& quantity : coupon.quantities)
    quantities.push_back({{"name", quantity.name},
                          {"title", quantity.title},
                          {"unit", quantity.unit},
                          {"source", quantity.source}});
  return {{"name", coupon.name}, {"title", coupon.title}, {"quantities", quantities}};
}

Json methods_json(const Matrix& matrix, const Registry& registry) {
  const std::vector<std::string> all = registry.method_names();
  Json list = Json::array();
  for (const std::string& name : matrix.methods) {
    const auto place = std::find(all.begin(), all.end(), name) - all.begin();
    list.push_back({{"name", name}, {"colour", method_colour(static_cast<std::size_t>(place))}});
  }
  return list;
}

// Each run once, whatever it is asked.
double processor_seconds(const Matrix& matrix) {
  double sum = 0;
  for (const Coupon* coupon : matrix.coupons) {
    for (const Cell& cell : matrix.cells) {
      if (cell.quantity == coupon->quantities.front().name) sum += cell.cpu_seconds;
    }
  }
  return sum;
}

}  // namespace

std::string coupons_page(const Matrix& matrix, const Registry& registry, double wall_seconds) {
  Json data;
  data["summary"] = fmt::format("Exemplar {}. {:.0f} s of processor time in {:.0f} s.", program_version(),
                                processor_seconds(matrix), wall_seconds);
  data["command"] = "exemplar coupons";
  data["large"] = k_large_error;
  data["methods"] = methods_json(matrix, registry);
  data["coupons"] = Json::array();
  for (const Coupon* coupon : matrix.coupons) data["coupons"].push_back(coupon_json(*coupon));
  data["cells"] = Json::array();
  for (const Cell& cell : matrix.cells) data["cells"].push_back(cell_json(cell));
  const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  return filled(assets::coupons_page(), {{"STYLE", std::string(assets::style())},
                                         {"DATA", json_inside_script(text)},
                                         {"SCRIPT", inside_script(std::string(assets::coupons_script()))}});
}

}  // namespace exemplar::coupons
