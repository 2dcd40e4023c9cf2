// A column of a method's own, by its name.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/run/method.h"

namespace exemplar {

inline double metric(const Diagnostics& diagnostics, const std::string& name) {
  for (const Metric& m : diagnostics.extra) {
    if (m.name == name) return m.value;
  }
  ADD_FAILURE() << "no column " << name;
  return k_unknown;
}

inline double metric(const Method& method, const std::string& name) {
  return metric(method.diagnostics(), name);
}

}  // namespace exemplar
