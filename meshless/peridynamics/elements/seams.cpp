#include "meshless/peridynamics/elements/seams.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/parallel.h"

namespace exemplar::peridynamics {

namespace {

constexpr double k_same_place = 1e-6;  // over the spacing; rounding of two ways to one corner is far below
constexpr double k_on_edge = 1e-5;
constexpr int k_most_rounds = 8;

// Numbers places: those nearer than the tolerance to an earlier one get its number.
class PlaceIndex {
 public:
  explicit PlaceIndex(double tolerance) : m_tolerance(tolerance), m_grain(8 * tolerance) {}

  int number(const Vec3& p) {
    const Eigen::Array3d low = ((p.array() - m_tolerance) / m_grain).floor(),
                         high = ((p.array() + m_tolerance) / m_grain).floor();
    for (double x = low[0]; x <= high[0]; ++x)
      for (double y = low[1]; y <= high[1]; ++y)
        for (double z = low[2]; z <= high[2]; ++z) {
          for (int i = m_heads[slot_of(x, y, z)]; i >= 0; i = m_next[i])
            if ((m_places[i] - p).squaredNorm() < m_tolerance * m_tolerance) return i;
        }
    if (m_places.size() == m_heads.size()) grow();
    m_places.push_back(p);
    m_next.push_back(-1);
    put(static_cast<int>(m_places.size()) - 1);
    return static_cast<int>(m_places.size()) - 1;
  }
  const std::vector<Vec3>& places() const { return m_places; }

 private:
  // Cells may share a slot: distances decide in the end.
  std::size_t slot_of(double x, double y, double z) const {
    const auto part = [](double v) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(v)); };
    std::uint64_t h = part(x) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 29) ^ part(y)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 31) ^ part(z)) * 0x94D049BB133111EBu;
    return static_cast<std::size_t>(h >> 32) & (m_heads.size() - 1);
  }
  void put(int place) {
    const Eigen::Array3d own = (m_places[place].array() / m_grain).floor();
    int& head = m_heads[slot_of(own[0], own[1], own[2])];
    m_next[place] = head;
    head = place;
  }
  void grow() {
    m_heads.assign(4 * m_heads.size(), -1);
    for (std::size_t i = 0; i < m_places.size(); ++i) put(static_cast<int>(i));
  }
  double m_tolerance, m_grain;
  std::vector<int> m_heads = std::vector<int>(1024, -1);
  std::vector<int> m_next;
  std::vector<Vec3> m_places;
};

struct SidedEdge {
  int particle, low, high;  // low < high
  int sign;                 // +1: run through from low to high
  bool operator<(const SidedEdge& o) const {
    return std::tie(particle, low, high) < std::tie(o.particle, o.low, o.high);
  }
};

// Edges that a particle's faces do not run through as often one way as the other.
std::vector<SidedEdge> open_edges(const Elements& elements) {
  const auto each = [&](const auto& visit) {
    for (const Face& face : elements.faces)
      for (int k = 0; k < face.count; ++k) {
        const int a = elements.corners[face.begin + k],
                  b = elements.corners[face.begin + (k + 1) % face.count];
        const int sign = a < b ? 1 : -1;
        visit(SidedEdge{face.particle, std::min(a, b), std::max(a, b), sign});
        if (face.other >= 0) visit(SidedEdge{face.other, std::min(a, b), std::max(a, b), -sign});
      }
  };
  // Sorted by particle first: what is left to sort is short.
  const std::size_t particles = elements.particles.size();
  std::vector<std::size_t> begin(particles + 1, 0);
  each([&](const SidedEdge& edge) { ++begin[static_cast<std::size_t>(edge.particle) + 1]; });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<SidedEdge> all(begin.back());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  each([&](const SidedEdge& edge) { all[next[static_cast<std::size_t>(edge.particle)]++] = edge; });
  parallel_for(particles, [&](std::size_t p) {
    std::sort(all.begin() + static_cast<std::ptrdiff_t>(begin[p]),
              all.begin() + static_cast<std::ptrdiff_t>(begin[p + 1]));
  });
  std::vector<SidedEdge> open;
  for (std::size_t p = 0; p < particles; ++p) {
    for (std::size_t i = begin[p]; i < begin[p + 1];) {
      SidedEdge sum = all[i];
      std::size_t end = i + 1;
      for (; end < begin[p + 1] && !(all[i] < all[end]); ++end) sum.sign += all[end].sign;
      if (sum.sign != 0) open.push_back(sum);
      i = end;
    }
  }
  return open;
}

using Splits = std::map<std::pair<int, int>, std::vector<int>>;  // vertices within an edge, from low to high

// Looks among the ends of one particle's open edges for those that lie within another of them.
void find_splits(const Points& x, double tolerance, std::span<const SidedEdge> open, Splits& splits) {
  std::vector<int> ends;
  for (const SidedEdge& edge : open) ends.insert(ends.end(), {edge.low, edge.high});
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  for (const SidedEdge& edge : open) {
    const Vec3 a = x.row(edge.low), along = Vec3(x.row(edge.high)) - a;
    std::vector<std::pair<double, int>> within;
    for (const int v : ends) {
      if (v == edge.low || v == edge.high) continue;
      const Vec3 p = Vec3(x.row(v)) - a;
      const double t = p.dot(along) / along.squaredNorm();
      if (t > 0 && t < 1 && (p - t * along).norm() < tolerance) within.emplace_back(t, v);
    }
    if (within.empty()) continue;
    std::sort(within.begin(), within.end());
    std::vector<int>& list = splits[{edge.low, edge.high}];
    list.clear();
    for (const auto& [t, v] : within) list.push_back(v);
  }
}

// Without repeated corners and without spikes there and back.
void tidy(std::vector<int>& polygon) {
  for (bool is_tidy = false; !is_tidy && polygon.size() >= 2;) {
    is_tidy = true;
    for (std::size_t k = 0; k < polygon.size(); ++k) {
      const std::size_t n = polygon.size(), next = (k + 1) % n;
      const bool spike = n > 2 && polygon[(k + n - 1) % n] == polygon[next];
      if (polygon[k] != polygon[next] && !spike) continue;
      polygon.erase(polygon.begin() + static_cast<std::ptrdiff_t>(k));
      is_tidy = false;
      break;
    }
  }
}

// Stores the faces anew with what `change` makes of their corners.
template <class Change>
void rewrite_faces(Elements& elements, const Change& change) {
  std::vector<Face> faces;
  std::vector<int> corners, polygon;
  for (Face face : elements.faces) {
    polygon.clear();
    change(face, polygon);
    tidy(polygon);
    if (polygon.size() < 3) continue;
    face.begin = static_cast<int>(corners.size());
    face.count = static_cast<int>(polygon.size());
    corners.insert(corners.end(), polygon.begin(), polygon.end());
    faces.push_back(face);
  }
  elements.faces = std::move(faces);
  elements.corners = std::move(corners);
}

bool split_edges(Elements& elements) {
  const std::vector<SidedEdge> open = open_edges(elements);
  Splits splits;
  for (std::size_t i = 0; i < open.size();) {
    std::size_t end = i;
    while (end < open.size() && open[end].particle == open[i].particle) ++end;
    find_splits(elements.vertices, k_on_edge * elements.spacing, std::span(&open[i], end - i), splits);
    i = end;
  }
  if (splits.empty()) return false;
  rewrite_faces(elements, [&](const Face& face, std::vector<int>& polygon) {
    for (int k = 0; k < face.count; ++k) {
      const int a = elements.corners[face.begin + k], b = elements.corners[face.begin + (k + 1) % face.count];
      polygon.push_back(a);
      const auto found = splits.find({std::min(a, b), std::max(a, b)});
      if (found == splits.end()) continue;
      if (a < b) polygon.insert(polygon.end(), found->second.begin(), found->second.end());
      if (a > b) polygon.insert(polygon.end(), found->second.rbegin(), found->second.rend());
    }
  });
  return true;
}

}  // namespace

std::vector<std::array<int, 3>> triangulate(const Polygon& polygon) {
  std::vector<std::array<int, 3>> triangles;
  std::vector<int> left(polygon.size());
  for (std::size_t k = 0; k < left.size(); ++k) left[k] = static_cast<int>(k);
  while (left.size() > 3) {
    // The best-shaped ear first: area over the square of its longest side.
    std::size_t best = 0;
    double quality = -1;
    const std::size_t n = left.size();
    const auto ear = [&](std::size_t k) {
      return std::array{left[(k + n - 1) % n], left[k], left[(k + 1) % n]};
    };
    for (std::size_t k = 0; k < n; ++k) {
      const auto [a, b, c] = ear(k);
      const Vec3 u = polygon[b] - polygon[a], v = polygon[c] - polygon[b], w = polygon[a] - polygon[c];
      const double longest = std::max({u.squaredNorm(), v.squaredNorm(), w.squaredNorm()});
      const double here = longest > 0 ? u.cross(v).norm() / longest : 0;
      if (here <= quality) continue;
      quality = here;
      best = k;
    }
    triangles.push_back(ear(best));
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
  }
  if (left.size() == 3) triangles.push_back({left[0], left[1], left[2]});
  return triangles;
}

int open_particles(const Elements& elements) {
  int count = 0, last = -1;
  for (const SidedEdge& edge : open_edges(elements)) {
    count += edge.particle != last;
    last = edge.particle;
  }
  return count;
}

void close_seams(const Points& at, Elements& elements) {
  PlaceIndex index(k_same_place * elements.spacing);
  rewrite_faces(elements, [&](const Face& face, std::vector<int>& polygon) {
    for (int k = 0; k < face.count; ++k) polygon.push_back(index.number(at.row(face.begin + k)));
  });
  elements.vertices.resize(static_cast<Eigen::Index>(index.places().size()), 3);
  for (std::size_t i = 0; i < index.places().size(); ++i)
    elements.vertices.row(static_cast<Eigen::Index>(i)) = index.places()[i].transpose();
  for (int round = 0; round < k_most_rounds && split_edges(elements);) ++round;
  // A polygon of n corners has n − 2 triangles.
  std::size_t triangles = 0;
  for (Face& face : elements.faces) {
    face.first_triangle = static_cast<int>(triangles);
    triangles += static_cast<std::size_t>(face.count) - 2;
  }
  elements.triangles.resize(triangles);
  parallel_for(elements.faces.size(), [&](std::size_t f) {
    const Face& face = elements.faces[f];
    auto next = elements.triangles.begin() + face.first_triangle;
    for (const auto& [a, b, c] : triangulate(elements.polygon(face)))
      *next++ = {elements.corners[face.begin + a], elements.corners[face.begin + b],
                 elements.corners[face.begin + c]};
  });
}

}  // namespace exemplar::peridynamics
