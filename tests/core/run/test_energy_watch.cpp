#include "core/run/energy_watch.h"

#include <gtest/gtest.h>

namespace exemplar {
namespace {

// Of a body of 1 kg: its kinetic, its gravitational energy and what the time step has taken so far, a row a frame.
MetricsTable table_of(const std::vector<std::array<double, 3>>& rows) {
  MetricsTable table;
  for (const char* name :
       {"frame", "mass", "kinetic_energy", "gravitational_energy", "numerical_dissipation"})
    table.columns.push_back({name, ""});
  for (std::size_t k = 0; k < rows.size(); ++k)
    table.rows.push_back({static_cast<double>(k), 1, rows[k][0], rows[k][1], rows[k][2]});
  return table;
}

// A spike that was gone again at the end was not seen: the last row was looked at, and compared with the spike.
TEST(EnergyWatch, ASpikeInTheMiddleIsMeasuredByWhatWasPutIn) {
  const MetricsTable table =
      table_of({{10, 5, 0}, {12, 3, 0}, {5000, 3, -4985}, {100, 3, -85}, {1, 0, 0.5}, {0, 0, 1}});
  EXPECT_DOUBLE_EQ(energy_input(table), 15);
  EXPECT_DOUBLE_EQ(energy_gain(table), 4985);
  const Notes notes = energy_notes(table, "smaller steps");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].severity, Severity::warning);
  EXPECT_NE(notes[0].text.find("4.98e+03 J came from nowhere, 3.32e+04 % of the 15 J"), std::string::npos)
      << notes[0].text;
}

// What was lost before does not pay for what comes from nowhere.
TEST(EnergyWatch, AGainAfterALossIsAGain) {
  const MetricsTable table = table_of({{10, 0, 0}, {4, 0, 6}, {6, 0, 4}});
  EXPECT_DOUBLE_EQ(energy_gain(table), 2);
  EXPECT_TRUE(gains_energy(table));
}

TEST(EnergyWatch, TwoPercentOfWhatWasPutInAreAllowed) {
  EXPECT_FALSE(gains_energy(table_of({{10, 0, 0}, {10.19, 0, -0.19}})));
  EXPECT_TRUE(gains_energy(table_of({{10, 0, 0}, {10.21, 0, -0.21}})));
}

// A body at rest that trembles by less than 5 cm/s, and a method without a balance.
TEST(EnergyWatch, WhatNobodySeesAndWhatIsNotKnownAreNotSaid) {
  EXPECT_TRUE(energy_notes(table_of({{0, 0, 0}, {1e-3, 0, -1e-3}}), "smaller steps").empty());
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(energy_notes(table_of({{10, 0, unknown}, {5000, 0, unknown}}), "smaller steps").empty());
}

}  // namespace
}  // namespace exemplar
