#include "core/run/frame_metrics.h"

namespace exemplar {

double stored_energy(const Diagnostics& d) {
  return d.kinetic_energy + d.elastic_energy + d.gravitational_energy;
}

namespace {

void add_vector(Metrics& metrics, const std::string& name, const char* unit, const Vec3& v) {
  for (int k = 0; k < 3; ++k) metrics.push_back({name + "_" + "xyz"[k], unit, v[k]});
}

}  // namespace

Metrics metrics_of(const FrameMetrics& frame) {
  const Diagnostics& d = frame.diagnostics;
  Metrics all{{"time", "s", frame.time}, {"mass", "kg", d.mass}};
  add_vector(all, "centre_of_mass", "m", d.centre_of_mass);
  add_vector(all, "linear_momentum", "kg m/s", d.linear_momentum);
  add_vector(all, "angular_momentum", "kg m²/s", d.angular_momentum);
  const Metrics scalars{{"kinetic_energy", "J", d.kinetic_energy},
                        {"elastic_energy", "J", d.elastic_energy},
                        {"gravitational_energy", "J", d.gravitational_energy},
                        {"plastic_dissipation", "J", d.plastic_dissipation},
                        {"contact_dissipation", "J", d.contact_dissipation},
                        {"damping_dissipation", "J", d.damping_dissipation},
                        {"fracture_energy", "J", d.fracture_energy},
                        {"numerical_dissipation", "J", d.numerical_dissipation},
                        {"external_work", "J", d.external_work},
                        {"volume_ratio", "", frame.volume_ratio},
                        {"plastic_measure", "", d.plastic_measure},
                        {"example_distance", "J", d.example_distance},
                        {"deepest_penetration", "m", d.deepest_penetration},
                        {"crossings", "", frame.crossings}};
  all.insert(all.end(), scalars.begin(), scalars.end());
  all.insert(all.end(), d.extra.begin(), d.extra.end());
  all.push_back({"steps", "", static_cast<double>(frame.steps)});
  all.push_back({"iterations", "", static_cast<double>(frame.iterations)});
  return all;
}

Metrics timings_of(const FrameMetrics& frame) {
  Metrics all{{"time", "s", frame.time}, {"wall_time", "s", frame.wall_time}};
  all.push_back({"real_time_factor", "", frame.wall_time > 0 ? frame.time / frame.wall_time : k_unknown});
  for (const auto& [name, seconds] : frame.phases) all.push_back({"time_" + name, "s", seconds});
  return all;
}

}  // namespace exemplar
