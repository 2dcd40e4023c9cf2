#include "compare/stage/framing.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compare/stage/visible.h"

namespace exemplar::stage {

namespace {

constexpr double k_margin = 0.06;        // of the picture on each side
constexpr double k_follow_margin = 0.2;  // around a body that is followed: its surroundings are seen
constexpr double k_close_margin = 0.14;
constexpr double k_path_ratio = 0.6;      // a camera that goes along stands this much nearer, or stays
constexpr double k_obstacle_ratio = 0.8;  // obstacles larger than this times the motion are not fitted
constexpr double k_moving_ratio = 2.5;    // … and those that move, larger than this
constexpr double k_near = 0.3;  // of the motion's size around it: obstacles farther off are not fitted
constexpr double k_least_change = 2e-3;    // of a body's size: less is not looked at
constexpr double k_small_change = 0.05;    // of a picture's height: a change of shape that is hardly seen
constexpr double k_worth_it = 1.2;         // a close-up shows a change of shape this much larger
constexpr double k_usual_advantage = 1.3;  // of the usual direction over others
constexpr int k_look_height = 72;          // pixels of the picture that decides
const Vec3 k_usual_direction(0.5, 0.42, 0.85);

Vec3 point_at(const Geometry& geometry, Eigen::Index row) {
  return geometry.points.row(row).transpose();
}

Box box_of(const std::vector<Vec3>& points) {
  Box box;
  for (const Vec3& point : points) box.include(point);
  return box;
}

Vec3 mean_of(const std::vector<Vec3>& points) {
  Vec3 sum = Vec3::Zero();
  for (const Vec3& point : points) sum += point;
  return points.empty() ? sum : Vec3(sum / static_cast<double>(points.size()));
}

// Where most of a surface is: loose splinters, up to 2 % of the points on each side, are not looked at unless
// they are near anyway.
Box main_part(const Points& points) {
  Box box;
  const Eigen::Index count = points.rows();
  if (count == 0 || !points.allFinite()) return box;
  const Eigen::Index skipped = count / 50;
  Vec3 low, high;
  for (int axis = 0; axis < 3; ++axis) {
    VecX values = points.col(axis);
    std::sort(values.begin(), values.end());
    low[axis] = values[skipped];
    high[axis] = values[count - 1 - skipped];
  }
  const Vec3 margin = Vec3::Constant(0.1 * (high - low).norm());
  box.include(low - margin);
  box.include(high + margin);
  return box;
}

// What is looked at of each moment: all bodies, or some.
using Subjects = std::vector<std::vector<std::vector<Vec3>>>;

std::vector<Vec3> main_points(const Moment& moment) {
  std::vector<Vec3> points;
  if (!moment.shown) return points;
  const Box part = main_part(moment.shown->points);
  for (Eigen::Index i = 0; i < moment.shown->points.rows(); ++i) {
    const Vec3 point = point_at(*moment.shown, i);
    if (part.contains(point)) points.push_back(point);
  }
  return points;
}

std::vector<Vec3> body_points(const Moment& moment, const std::vector<int>& bodies) {
  std::vector<Vec3> points;
  if (!moment.shown) return points;
  const std::vector<int> owners = body_of_points(*moment.shown);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (std::find(bodies.begin(), bodies.end(), owners[i]) == bodies.end()) continue;
    const Vec3 point = point_at(*moment.shown, static_cast<Eigen::Index>(i));
    if (point.allFinite()) points.push_back(point);
  }
  return points;
}

template <class PointsOf>
Subjects subjects_of(const Moments& moments, PointsOf points_of) {
  Subjects subjects;
  for (const auto& run : moments) {
    auto& row = subjects.emplace_back();
    for (const Moment& moment : run) row.push_back(points_of(moment));
  }
  return subjects;
}

// A method that blew up must not make all others invisible: runs far larger than the usual one are not fitted.
void leave_out_huge_runs(Subjects& subjects) {
  std::vector<double> sizes;
  for (const auto& run : subjects) {
    Box box;
    for (const auto& points : run) box.include(box_of(points));
    if (!box.empty()) sizes.push_back(box.diagonal());
  }
  std::sort(sizes.begin(), sizes.end());
  const double usual = sizes.empty() ? 0 : sizes[(sizes.size() - 1) / 2];
  for (auto& run : subjects) {
    Box box;
    for (const auto& points : run) box.include(box_of(points));
    if (box.diagonal() <= 4 * usual) continue;
    for (auto& points : run) points.clear();
  }
}

// How the camera goes along: by run, then by time.
using Path = std::vector<std::vector<Vec3>>;

Path standing(const Subjects& subjects) {
  Path path;
  for (const auto& run : subjects) path.emplace_back(run.size(), Vec3::Zero());
  return path;
}

// Where there is nothing to see the camera stays where it was.
Path with_each(const Subjects& subjects) {
  Path path = standing(subjects);
  for (std::size_t r = 0; r < subjects.size(); ++r) {
    for (std::size_t c = 0; c < subjects[r].size(); ++c) {
      const bool is_empty = subjects[r][c].empty();
      path[r][c] = !is_empty ? mean_of(subjects[r][c]) : c > 0 ? path[r][c - 1] : Vec3(Vec3::Zero());
    }
  }
  return path;
}

// The same for all runs, so that they can be compared.
Path with_all(const Subjects& subjects) {
  Path path = standing(subjects);
  const std::size_t columns = subjects.empty() ? 0 : subjects[0].size();
  Vec3 last = Vec3::Zero();
  for (std::size_t c = 0; c < columns; ++c) {
    Box box;
    for (const auto& run : subjects) box.include(box_of(run[c]));
    if (!box.empty()) last = box.centre();
    for (auto& run : path) run[c] = last;
  }
  return path;
}

std::vector<Vec3> relative_points(const Subjects& subjects, const Path& path) {
  std::vector<Vec3> all;
  for (std::size_t r = 0; r < subjects.size(); ++r) {
    for (std::size_t c = 0; c < subjects[r].size(); ++c) {
      for (const Vec3& point : subjects[r][c]) all.push_back(point - path[r][c]);
    }
  }
  return all;
}

std::vector<int> moving_in(const std::vector<Moment>& run) {
  std::vector<const Geometry*> over_time;
  for (const Moment& moment : run) over_time.push_back(moment.obstacles);
  return moving_obstacles(over_time);
}

// Small ones near what moves. Those that move themselves are part of what happens and may be larger.
void add_obstacles(const Moments& moments, const Path& path, Box motion, std::vector<Vec3>& points) {
  const double size = motion.diagonal();
  motion.low -= Vec3::Constant(k_near * size);
  motion.high += Vec3::Constant(k_near * size);
  for (std::size_t r = 0; r < moments.size(); ++r) {
    const std::vector<int> moving = moving_in(moments[r]);
    for (std::size_t c = 0; c < moments[r].size(); ++c) {
      if (!moments[r][c].obstacles) continue;
      for (const auto& [place, one] : obstacle_boxes(*moments[r][c].obstacles)) {
        const bool moves = std::find(moving.begin(), moving.end(), place) != moving.end();
        const double largest = (moves ? k_moving_ratio : k_obstacle_ratio) * size;
        if (one.is_plane || one.box.diagonal() > largest) continue;
        for (const int row : one.points) {
          const Vec3 point = point_at(*moments[r][c].obstacles, row) - path[r][c];
          if (motion.contains(point)) points.push_back(point);
        }
      }
    }
  }
}

// What is fitted: points relative to a path.
struct Fit {
  Path path;
  std::vector<Vec3> points;
  Box extent;  // of the bodies alone
};

Fit fit_of(const Moments& moments, const Subjects& subjects, Path path) {
  Fit fit{std::move(path), {}, {}};
  fit.points = relative_points(subjects, fit.path);
  fit.extent = box_of(fit.points);
  add_obstacles(moments, fit.path, fit.extent, fit.points);
  return fit;
}

Shot shot_along(const Fit& fit, const Camera& base, const std::string& name) {
  Shot shot;
  shot.name = name;
  for (const auto& run : fit.path) {
    auto& cameras = shot.cameras.emplace_back();
    auto& subjects = shot.subjects.emplace_back();
    for (const Vec3& by : run) {
      cameras.push_back(base.moved(by));
      Box subject;
      if (!fit.extent.empty()) {
        subject.include(fit.extent.low + by);
        subject.include(fit.extent.high + by);
      }
      subjects.push_back(subject);
    }
  }
  return shot;
}

// The directions among which the program chooses where nobody says one: the usual one comes first.
std::vector<Vec3> candidate_directions() {
  const Vec3 d = k_usual_direction;
  return {d,
          {-d.x(), d.y(), d.z()},
          {d.x(), d.y(), -d.z()},
          {-d.x(), d.y(), -d.z()},
          {d.z(), d.y(), d.x()},
          {-d.z(), d.y(), d.x()},
          {d.x(), 2 * d.y(), d.z()}};
}

// The ends of a ball's axes.
std::vector<Vec3> ball_of(double size) {
  std::vector<Vec3> points;
  for (int axis = 0; axis < 3; ++axis) {
    for (const double sign : {-0.5, 0.5}) points.emplace_back(sign * size * Vec3::Unit(axis));
  }
  return points;
}

// The largest change of shape of each body over its size.
std::map<int, double> changes_of(const Moments& moments) {
  std::map<int, double> changes;
  for (const auto& run : moments) {
    for (const Moment& moment : run) {
      if (!moment.shown) continue;
      const VecX change = change_of_shape(*moment.shown);
      const std::vector<int> owners = body_of_points(*moment.shown);
      std::map<int, std::pair<Box, double>> own;
      for (std::size_t i = 0; i < owners.size(); ++i) {
        const auto row = static_cast<Eigen::Index>(i);
        auto& [box, most] = own[owners[i]];
        box.include(point_at(*moment.shown, row));
        most = std::max(most, change[row]);
      }
      for (const auto& [body, found] : own)
        changes[body] = std::max(changes[body], found.second / std::max(1e-12, found.first.diagonal()));
    }
  }
  return changes;
}

class Framing {
 public:
  Framing(const Moments& moments, const Stage& stage, const FramingWishes& wishes)
      : m_moments(moments), m_stage(stage), m_wishes(wishes), m_camera(stage.camera) {
    if (wishes.direction) {
      m_camera.look_at.reset();
      m_camera.from.reset();
      m_camera.direction = Quat::FromTwoVectors(Vec3::UnitY(), wishes.up.normalized()) * *wishes.direction;
    }
    if (!wishes.follow.empty()) m_camera.follow = wishes.follow;
    if (m_camera.field_of_view) m_angle = *m_camera.field_of_view * M_PI / 180;
    if (m_camera.from) m_camera.direction = *m_camera.from - *m_camera.look_at;
    weigh_points();
  }

  std::vector<Shot> shots() {
    std::vector<Shot> all{wide()};
    for (const CloseUpSettings& close : close_ups(all[0])) all.push_back(close_shot(close));
    for (Shot& shot : all) {
      for (auto& run : shot.cameras) {
        for (Camera& camera : run) camera = camera.zoomed(m_wishes.zoom);
      }
    }
    return all;
  }

 private:
  Shot wide() {
    Subjects subjects = subjects_of(m_moments, main_points);
    leave_out_huge_runs(subjects);
    Fit fit = fit_of(m_moments, subjects, standing(subjects));
    if (!m_camera.follow.empty()) return following();
    if (m_camera.from) return shot_along(fit, placed(), "");
    if (m_camera.look_at) return shot_along(fit, looking_at(fit), "");
    const Fit along = fit_of(m_moments, subjects, with_all(subjects));
    const bool goes_along =
        along.extent.diagonal() > 0 &&
        distance_of(along, k_usual_direction) < k_path_ratio * distance_of(fit, k_usual_direction);
    if (goes_along) fit = along;
    return shot_along(fit, camera_for(fit, k_margin), "");
  }

  // What it is worth to see a point: its change of shape, and a little for being there.
  void weigh_points() {
    double most = 0;
    for (const auto& run : m_moments) {
      const Moment* end = last_moment(run);
      m_worth.push_back(end ? change_of_shape(*end->shown) : VecX());
      if (end && end->shown->points.rows() > 0) most = std::max(most, m_worth.back().maxCoeff());
    }
    for (VecX& worth : m_worth) worth.array() += most > 0 ? 0.05 * most : 1.0;
  }

  static const Moment* last_moment(const std::vector<Moment>& run) {
    const auto end =
        std::find_if(run.rbegin(), run.rend(), [](const Moment& moment) { return moment.shown; });
    return end == run.rend() ? nullptr : &*end;
  }

  Camera placed() const { return camera_at(*m_camera.from, *m_camera.look_at, m_wishes.up, m_angle); }

  Camera looking_at(const Fit& fit) const {
    return fit_around(*m_camera.look_at, fit.points, direction_for(fit, k_margin), m_wishes.up,
                      m_wishes.aspect, k_margin, m_angle);
  }

  // With a body in the middle; where the scene says a place, from there on.
  Shot following() const {
    const std::vector<int> bodies = known_places(m_stage.bodies, m_camera.follow, "follow");
    const Subjects followed =
        subjects_of(m_moments, [&](const Moment& moment) { return body_points(moment, bodies); });
    Path path = with_each(followed);
    if (!m_camera.look_at) {
      const Fit fit = fit_of(m_moments, followed, std::move(path));
      return shot_along(fit, camera_for(fit, k_follow_margin), "");
    }
    for (auto& run : path) {
      const Vec3 start = run.empty() ? Vec3(Vec3::Zero()) : run.front();
      for (Vec3& by : run) by -= start;
    }
    const Fit fit = fit_of(m_moments, followed, std::move(path));
    return shot_along(fit, m_camera.from ? placed() : looking_at(fit), "");
  }

  double distance_of(const Fit& fit, const Vec3& direction) const {
    const Camera camera = fit_camera(fit.points, direction, m_wishes.up, m_wishes.aspect, k_margin, m_angle);
    return (camera.position - camera.target).norm();
  }

  // The usual direction unless what deforms is seen much better from another one.
  Vec3 direction_for(const Fit& fit, double margin) const {
    if (m_camera.direction) return *m_camera.direction;
    const Quat turn = Quat::FromTwoVectors(Vec3::UnitY(), m_wishes.up.normalized());
    Vec3 best = turn * k_usual_direction;
    double most = 0;
    bool is_usual = true;
    for (const Vec3& candidate : candidate_directions()) {
      const Vec3 direction = turn * candidate;
      const Camera base = fit_camera(fit.points, direction, m_wishes.up, m_wishes.aspect, margin, m_angle);
      const double seen = what_is_seen(fit, base) * (is_usual ? k_usual_advantage : 1);
      is_usual = false;
      if (seen > most) {
        most = seen;
        best = direction;
      }
    }
    return best;
  }

  // At the end of every run; of each body the more the better, but better a little of each than much of one.
  double what_is_seen(const Fit& fit, const Camera& base) const {
    double seen = 0;
    for (std::size_t r = 0; r < m_moments.size(); ++r) {
      const Moment* end = last_moment(m_moments[r]);
      if (!end) continue;
      const auto column = static_cast<std::size_t>(end - m_moments[r].data());
      const Visible picture = look(base.moved(fit.path[r][column]), m_wishes.aspect, k_look_height,
                                   *end->shown, end->obstacles, m_worth[r]);
      for (const auto& [body, value] : picture.values_of_bodies()) seen += std::sqrt(value);
    }
    return seen;
  }

  Camera camera_for(const Fit& fit, double margin) const {
    return fit_camera(fit.points, direction_for(fit, margin), m_wishes.up, m_wishes.aspect, margin, m_angle);
  }

  std::vector<CloseUpSettings> close_ups(const Shot& wide) const {
    std::vector<CloseUpSettings> wanted;
    for (const std::string& body : m_wishes.close_ups) {
      if (body == k_no_close_up) return {};
      wanted.push_back({body, body, {}, 0, {}});
    }
    if (!wanted.empty()) return wanted;
    if (!m_camera.close_ups.empty()) return m_camera.close_ups;
    return small_ones(wide);
  }

  // The body that changes its shape most, where all that do are small in the wide picture or their change is, and a
  // close-up shows more.
  std::vector<CloseUpSettings> small_ones(const Shot& wide) const {
    const std::vector<int> bodies = deformed_bodies(m_moments);
    if (bodies.empty() || bodies[0] >= static_cast<int>(m_stage.bodies.size())) return {};
    const std::string& name = m_stage.bodies[static_cast<std::size_t>(bodies[0])];
    const CloseUpSettings close{name, name, {}, 0, {}};
    const Seen in_wide = how_seen(wide, bodies), in_close = how_seen(close_shot(close), {bodies[0]});
    if (in_close.change < k_worth_it * in_wide.change) return {};
    if (in_wide.share >= k_small_share && in_wide.change >= k_small_change) return {};
    return {close};
  }

  // At the end of the run that shows most.
  struct Seen {
    double share = 0;   // of the picture, all the bodies
    double change = 0;  // largest change of shape over the picture's height
  };
  Seen how_seen(const Shot& shot, const std::vector<int>& bodies) const {
    Seen most;
    for (std::size_t r = 0; r < m_moments.size(); ++r) {
      const Moment* end = last_moment(m_moments[r]);
      if (!end) continue;
      const Camera& camera = shot.cameras[r][static_cast<std::size_t>(end - m_moments[r].data())];
      const Visible seen = look(camera, m_wishes.aspect, k_look_height, *end->shown, end->obstacles);
      double share = 0;
      for (const int body : bodies) share += seen.share(body);
      most.share = std::max(most.share, share);
      most.change = std::max(most.change, change_in_picture(camera, *end->shown, bodies[0]));
    }
    return most;
  }

  static double change_in_picture(const Camera& camera, const Geometry& shown, int body) {
    const VecX change = change_of_shape(shown);
    const std::vector<int> owners = body_of_points(shown);
    double most = 0;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const double depth = owners[i] == body ? project(camera, point_at(shown, row), 1).z() : 0;
      if (depth > 0) most = std::max(most, change[row] / (2 * depth * std::tan(camera.view_angle / 2)));
    }
    return most;
  }

  Shot close_shot(const CloseUpSettings& close) const {
    Subjects subjects;
    if (close.body.empty()) {
      subjects = subjects_of(m_moments, main_points);
    } else {
      const std::vector<int> bodies = known_places(m_stage.bodies, close.body, "close-up");
      subjects = subjects_of(m_moments, [&](const Moment& moment) { return body_points(moment, bodies); });
    }
    Fit fit{with_each(subjects), {}, {}};
    if (close.at) {
      for (auto& run : fit.path) std::fill(run.begin(), run.end(), *close.at);
    }
    fit.points = close.size > 0 ? ball_of(close.size) : relative_points(subjects, fit.path);
    fit.extent = box_of(fit.points);
    const Vec3 direction = close.direction ? *close.direction : direction_for(fit, k_close_margin);
    const Camera base =
        fit_camera(fit.points, direction, m_wishes.up, m_wishes.aspect, k_close_margin, m_angle);
    return shot_along(fit, base, close.name.empty() ? close.body : close.name);
  }

  const Moments& m_moments;
  const Stage& m_stage;
  const FramingWishes& m_wishes;
  CameraSettings m_camera;
  double m_angle = Camera().view_angle;
  std::vector<VecX> m_worth;  // of the points at the end of each run
};

}  // namespace

std::vector<int> deformed_bodies(const Moments& moments) {
  std::vector<std::pair<double, int>> order;
  double most = k_least_change;
  for (const auto& [body, change] : changes_of(moments)) {
    order.emplace_back(-change, body);
    most = std::max(most, 0.25 * change);
  }
  std::sort(order.begin(), order.end());
  std::vector<int> bodies;
  for (const auto& [change, body] : order) {
    if (-change >= most) bodies.push_back(body);
  }
  return bodies;
}

std::vector<Shot> frame_shots(const Moments& moments, const Stage& stage, const FramingWishes& wishes) {
  return Framing(moments, stage, wishes).shots();
}

}  // namespace exemplar::stage
