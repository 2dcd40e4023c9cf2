// What nearly every source includes and the compiler takes longest to read: precompiled once
// (scripts/cmake/Targets.cmake). Sources still include what they use; nothing relies on this.
#pragma once

#include <fmt/format.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
