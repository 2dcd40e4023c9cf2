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
  // `side`: of cells that hold few places each.
  PlaceIndex(double tolerance, double side) : m_tolerance(tolerance), m_side(side) {}

  int number(const Vec3& p) {
    const Eigen::Array3d low = cell_of(p.array() - m_tolerance), high = cell_of(p.array() + m_tolerance);
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
  // Not at round multiples of the side, where the places of lattices are.
  Eigen::Array3d cell_of(const Eigen::Array3d& p) const { return (p / m_side + 0.3819).floor(); }
  // Cells may share a slot: distances decide in the end. Neighbours along x have neighbouring slots, as faces come row by row
  // and would wait for memory otherwise.
  std::size_t slot_of(double x, double y, double z) const {
    const auto part = [](double v) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(v)); };
    std::uint64_t h = part(y) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 31) ^ part(z)) * 0x94D049BB133111EBu;
    return static_cast<std::size_t>(part(x) + (h >> 32)) & (m_heads.size() - 1);
  }
  void put(int place) {
    const Eigen::Array3d own = cell_of(m_places[place].array());
    int& head = m_heads[slot_of(own[0], own[1], own[2])];
    m_next[place] = head;
    head = place;
  }
  void grow() {
    m_heads.assign(4 * m_heads.size(), -1);
    for (std::size_t i = 0; i < m_places.size(); ++i) put(static_cast<int>(i));
  }
  double m_tolerance, m_side;
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

// The faces of every particle: those of p are faces[begin[p]] … faces[begin[p + 1] − 1].
struct FaceLists {
  std::vector<int> begin, faces;
};

FaceLists faces_of_particles(const Elements& elements) {
  FaceLists lists;
  lists.begin.assign(elements.particles.size() + 1, 0);
  for (const Face& face : elements.faces) {
    ++lists.begin[static_cast<std::size_t>(face.particle) + 1];
    if (face.other >= 0) ++lists.begin[static_cast<std::size_t>(face.other) + 1];
  }
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  lists.faces.resize(static_cast<std::size_t>(lists.begin.back()));
  std::vector<int> next(lists.begin.begin(), lists.begin.end() - 1);
  for (int f = 0; f < static_cast<int>(elements.faces.size()); ++f) {
    const Face& face = elements.faces[static_cast<std::size_t>(f)];
    lists.faces[static_cast<std::size_t>(next[static_cast<std::size_t>(face.particle)]++)] = f;
    if (face.other >= 0)
      lists.faces[static_cast<std::size_t>(next[static_cast<std::size_t>(face.other)]++)] = f;
  }
  return lists;
}

// Edges that the particle's faces do not run through as often one way as the other; `room` is for all of its edges.
void add_open_edges(const Elements& elements, std::span<const int> faces, int particle,
                    std::vector<SidedEdge>& room, std::vector<SidedEdge>& open) {
  room.clear();
  for (const int f : faces) {
    const Face& face = elements.faces[static_cast<std::size_t>(f)];
    for (int k = 0; k < face.count; ++k) {
      const int a = elements.corners[face.begin + k], b = elements.corners[face.begin + (k + 1) % face.count];
      const int sign = (a < b) == (face.particle == particle) ? 1 : -1;
      room.push_back({particle, std::min(a, b), std::max(a, b), sign});
    }
  }
  std::sort(room.begin(), room.end());
  for (std::size_t i = 0; i < room.size();) {
    SidedEdge sum = room[i];
    std::size_t end = i + 1;
    for (; end < room.size() && !(room[i] < room[end]); ++end) sum.sign += room[end].sign;
    if (sum.sign != 0) open.push_back(sum);
    i = end;
  }
}

// The open edges of the particles that are looked at, in their order.
std::vector<SidedEdge> open_edges(const Elements& elements, const std::vector<std::uint8_t>& is_looked_at) {
  constexpr std::size_t at_a_time = 4096;  // particles
  const FaceLists lists = faces_of_particles(elements);
  const std::size_t particles = elements.particles.size();
  std::vector<std::vector<SidedEdge>> parts((particles + at_a_time - 1) / at_a_time);
  parallel_for(
      parts.size(),
      [&](std::size_t part) {
        std::vector<SidedEdge> room;
        for (std::size_t p = part * at_a_time; p < std::min(particles, (part + 1) * at_a_time); ++p) {
          const std::span<const int> own(lists.faces.data() + lists.begin[p],
                                         lists.faces.data() + lists.begin[p + 1]);
          if (is_looked_at[p]) add_open_edges(elements, own, static_cast<int>(p), room, parts[part]);
        }
      },
      1);
  std::vector<SidedEdge> open;
  for (const std::vector<SidedEdge>& part : parts) open.insert(open.end(), part.begin(), part.end());
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
  faces.reserve(elements.faces.size());
  corners.reserve(4 * elements.faces.size());
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

// Looks at the marked particles and marks those whose faces it changed, which are all that may need another look.
bool split_edges(Elements& elements, std::vector<std::uint8_t>& is_marked) {
  const std::vector<SidedEdge> open = open_edges(elements, is_marked);
  std::fill(is_marked.begin(), is_marked.end(), 0);
  Splits splits;
  for (std::size_t i = 0; i < open.size();) {
    std::size_t end = i;
    while (end < open.size() && open[end].particle == open[i].particle) ++end;
    find_splits(elements.vertices, k_on_edge * elements.spacing, std::span(&open[i], end - i), splits);
    i = end;
  }
  if (splits.empty()) return false;
  std::vector<std::uint8_t> begins_split(static_cast<std::size_t>(elements.vertices.rows()), 0);
  for (const auto& [edge, within] : splits) begins_split[static_cast<std::size_t>(edge.first)] = 1;
  rewrite_faces(elements, [&](const Face& face, std::vector<int>& polygon) {
    for (int k = 0; k < face.count; ++k) {
      const int a = elements.corners[face.begin + k], b = elements.corners[face.begin + (k + 1) % face.count];
      polygon.push_back(a);
      if (!begins_split[static_cast<std::size_t>(std::min(a, b))]) continue;
      const auto found = splits.find({std::min(a, b), std::max(a, b)});
      if (found == splits.end()) continue;
      is_marked[static_cast<std::size_t>(face.particle)] = 1;
      if (face.other >= 0) is_marked[static_cast<std::size_t>(face.other)] = 1;
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
  for (const SidedEdge& edge :
       open_edges(elements, std::vector<std::uint8_t>(elements.particles.size(), 1))) {
    count += edge.particle != last;
    last = edge.particle;
  }
  return count;
}

void close_seams(std::span<const Vec3> at, Elements& elements) {
  PlaceIndex index(k_same_place * elements.spacing, 0.5 * elements.spacing);
  rewrite_faces(elements, [&](const Face& face, std::vector<int>& polygon) {
    for (int k = 0; k < face.count; ++k)
      polygon.push_back(index.number(at[static_cast<std::size_t>(face.begin + k)]));
  });
  elements.vertices.resize(static_cast<Eigen::Index>(index.places().size()), 3);
  for (std::size_t i = 0; i < index.places().size(); ++i)
    elements.vertices.row(static_cast<Eigen::Index>(i)) = index.places()[i].transpose();
  std::vector<std::uint8_t> is_marked(elements.particles.size(), 1);
  for (int round = 0; round < k_most_rounds && split_edges(elements, is_marked);) ++round;
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
