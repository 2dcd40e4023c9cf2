#include "compare/coupons/specimen.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace exemplar::coupons {

namespace {

constexpr double k_edge = 1e-4;  // m, of regions around the ends of a body

Json sheet_body(const Vec3& size, int nx, int nz) {
  return {
      {"kind", "sheet"},
      {"thickness", size.y()},
      {"surface",
       {{"sheet", {{"length", size.x()}, {"width", size.z()}, {"resolution_x", nx}, {"resolution_z", nz}}}}}};
}

Json solid_body(const Vec3& size, const std::array<int, 3>& n) {
  return {{"surface", {{"box", {{"size", vector_json(size)}, {"resolution", {n[0], n[1], n[2]}}}}}},
          {"volume", {{"grid", {n[0], n[1], n[2]}}}}};
}

Json box_of_cells(const Subject& subject, const Vec3& size, const std::array<int, 3>& cells) {
  const int k = cells_through(subject);
  const std::array<int, 3> n{cells[0] * k, cells[1] * k, cells[2] * k};
  return subject.takes_sheets ? sheet_body(size, n[0], n[2]) : solid_body(size, n);
}

// What the body's cells are in methods that make their own.
void set_resolution(const Subject& subject, const std::array<int, 3>& cells, Json& document) {
  if (subject.method == "peridynamics") {
    const int particles[k_resolutions] = {250, 1000, 4000};
    document["methods"]["peridynamics"]["particles"] = particles[subject.resolution - 1];
  } else if (subject.method == "shape-matching") {
    document["methods"]["shape-matching"]["cell_counts"] = {cells[0], cells[1], cells[2]};
  }
}

// Cells of a body as its own description says.
std::array<int, 3> cells_of(const Subject& subject, const Json& body) {
  if (const auto volume = body.find("volume"); volume != body.end())
    return volume->at("grid").get<std::array<int, 3>>();
  const int across = 2 + 2 * cells_through(subject);  // a ball: 4, 6, 10
  return {across, across, across};
}

}  // namespace

int cells_through(const Subject& subject) {
  return 1 << (subject.resolution - 1);
}

Json vector_json(const Vec3& v) {
  return Json::array({v.x(), v.y(), v.z()});
}

Json bar_body(const Subject& subject, const Bar& bar, const Json& material) {
  const Vec3 size(bar.length + bar.stub, bar.height, bar.width);
  Json body = box_of_cells(subject, size, {bar.cells_along, 1, 1});
  body["name"] = "bar";
  body["position"] = vector_json({(bar.length - bar.stub) / 2, 0, 0});
  body["material"] = material;
  body["supports"] =
      Json::array({{{"region", {{"half_space", {{"point", {k_edge, 0, 0}}, {"normal", {-1, 0, 0}}}}}}}});
  Json& support = body["supports"][0];
  if (bar.is_held_along_only) support["y"] = support["z"] = false;
  if (subject.takes_sheets) support["clamped"] = true;
  return body;
}

Json box_body(const Subject& subject, const Vec3& size, const std::array<int, 3>& cells,
              const Json& material) {
  Json body = box_of_cells(subject, size, cells);
  body["name"] = "box";
  body["position"] = vector_json({0, size.y() / 2, 0});
  body["material"] = material;
  return body;
}

Json ball_body(const Subject& subject, double radius, const Vec3& position, const Json& material) {
  const int parts = 2 + 2 * cells_through(subject);
  return {{"name", "ball"},
          {"surface", {{"sphere", {{"radius", radius}, {"resolution", parts}}}}},
          {"position", vector_json(position)},
          {"material", material}};
}

Json scene_document(const Subject& subject, double duration, Json body) {
  Json document{{"time", {{"duration", duration}}}};
  set_resolution(subject, cells_of(subject, body), document);
  document["bodies"] = Json::array({std::move(body)});
  return document;
}

double face_distance(const LiveRun& run, const Points& surface) {
  const Points& start = run.scene().bodies.front().initial_surface();
  const double low = start.col(1).minCoeff() + k_edge, high = start.col(1).maxCoeff() - k_edge;
  double below = 0, above = 0, lowest = 0, highest = 0;
  for (Eigen::Index v = 0; v < start.rows(); ++v) {
    if (start(v, 1) < low) below += surface(v, 1), ++lowest;
    if (start(v, 1) > high) above += surface(v, 1), ++highest;
  }
  return above / highest - below / lowest;
}

std::vector<double> tip_displacement(const LiveRun& run, const Points& surface) {
  const Points& start = run.scene().bodies.front().initial_surface();
  const double end = start.col(0).maxCoeff() - k_edge;
  Vec3 sum = Vec3::Zero();
  int count = 0;
  for (Eigen::Index v = 0; v < start.rows(); ++v) {
    if (start(v, 0) < end) continue;
    sum += (surface.row(v) - start.row(v)).transpose();
    ++count;
  }
  sum /= count;
  return {sum.x(), sum.y(), sum.z()};
}

std::vector<double> centre_of(const LiveRun&, const Points& surface) {
  const Vec3 centre = surface.colwise().mean().transpose();
  return {centre.x(), centre.y(), centre.z()};
}

Json floor_obstacle() {
  return {{"name", "floor"}, {"plane", Json::object()}};
}

}  // namespace exemplar::coupons
