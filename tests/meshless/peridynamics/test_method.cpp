// The method on small scenes: its validation cases, resuming, threads, both written surfaces.
#include "meshless/peridynamics/method.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/mesh/files/files.h"
#include "core/mesh/mass_properties.h"
#include "meshless/peridynamics/checks/validation.h"
#include "meshless/peridynamics/input_checks.h"
#include "tests/support/run.h"

namespace exemplar::peridynamics {
namespace {

SceneSettings dropped_box() {
  SceneSettings settings;
  settings.time = {2e-3, 5000, 1};
  BodySettings body;
  body.name = "box";
  body.surface.box = BoxParams{Vec3(0.1, 0.06, 0.05), Eigen::Vector3i(4, 3, 2)};
  body.position = Vec3(0, 0.05, 0);
  body.rotation = {Vec3::UnitZ(), 25};
  body.velocity = Vec3(0, -15, 0);
  body.material.density = 2200;
  body.material.young = 4e9;
  body.material.poisson = 0.25;
  body.material.fracture_energy = 20;
  settings.bodies.push_back(body);
  ObstacleSettings floor;
  floor.name = "floor";
  floor.plane = PlaneSettings{};
  settings.obstacles.push_back(floor);
  return settings;
}

Settings small(ElementKind kind) {
  Settings settings;
  settings.elements = kind;
  settings.particles = 600;
  settings.surface = WrittenSurface::fragments;
  return settings;
}

StateArrays state_of(const Method& method) {
  StateWriter out;
  method.save(out);
  return out.arrays();
}

double stored(const Diagnostics& d) {
  return d.kinetic_energy + d.elastic_energy + d.gravitational_energy + d.contact_dissipation +
         d.fracture_energy;
}

// A box of 8 kg at 2 m/s; what is struck flies off. It had 0.63 J of the 16 from nowhere, and friction less than none.
TEST(Method, ALightObstacleTakesNoMoreThanIsLost) {
  for (const double mass : {4.0, 0.5}) {
    SceneSettings settings;
    settings.time = {0.15, 60, 4};
    settings.gravity = Vec3::Zero();
    BodySettings body;
    body.name = "box";
    body.surface.box = BoxParams{Vec3::Constant(0.2), Eigen::Vector3i::Constant(4)};
    body.position = Vec3(-0.2, 0, 0);
    body.velocity = Vec3(2, 0, 0);
    body.material.density = 1000;
    body.material.young = 1e6;
    body.material.poisson = 0.25;
    body.material.friction = 0.3;
    settings.bodies.push_back(body);
    ObstacleSettings struck;
    struck.name = "struck";
    struck.box = BoxSettings{Vec3::Constant(0.2)};
    struck.mass = mass;
    struck.position = Vec3(0.05, 0.02, 0);
    struck.restitution = 1;
    settings.obstacles.push_back(struck);
    const Scene scene = make_scene(settings, "");
    Settings cells;
    cells.particles = 300;
    const auto method = make_method(scene, cells);
    const double before = stored(method->diagnostics());
    ASSERT_EQ(method->advance(0.15, k_never).status, Status::ok);
    const Diagnostics d = method->diagnostics();
    EXPECT_GE(d.contact_dissipation, -1e-12);  // rounding: restitution is 1
    EXPECT_LT(d.external_work, -0.5);          // what the obstacle has
    EXPECT_NEAR(stored(d) - d.external_work, before, 1e-3 * before);
  }
}

TEST(Method, BreaksAndGoesOnFromASavedStateWithTheSameBits) {
  const Scene scene = make_scene(dropped_box(), "");
  for (const ElementKind kind : {ElementKind::cubes, ElementKind::tets, ElementKind::voronoi}) {
    const auto whole = make_method(scene, small(kind));
    const auto first = make_method(scene, small(kind));
    const auto second = make_method(scene, small(kind));
    for (int frame = 1; frame <= 8; ++frame) {
      ASSERT_EQ(whole->advance(scene.frame_time(frame), k_never).status, Status::ok);
      if (frame <= 4) first->advance(scene.frame_time(frame), k_never);
    }
    StateReader reader(state_of(*first));
    second->load(reader);
    for (int frame = 5; frame <= 8; ++frame) second->advance(scene.frame_time(frame), k_never);
    const StateArrays expected = state_of(*whole), resumed = state_of(*second);
    for (const auto& [name, bytes] : expected) EXPECT_TRUE(resumed.at(name) == bytes) << name;
    double fragments = 0;
    for (const Metric& metric : whole->diagnostics().extra) {
      if (metric.name == "fragments") fragments = metric.value;
    }
    EXPECT_GT(fragments, 1) << static_cast<int>(kind);
  }
}

// The columns of the table add up, with breaking bonds and contact, at the step that is chosen by itself.
// Also when particles that were inside others begin to collide: with a horizon of two spacings that gave a vase of 91 J another
// 343.
TEST(Method, TheEnergiesOfABreakingBodyAddUp) {
  const Scene scene = make_scene(dropped_box(), "");
  for (const ElementKind kind : {ElementKind::cubes, ElementKind::tets, ElementKind::voronoi}) {
    for (const double horizon : {2.0, 3.0}) {
      Settings settings = small(kind);
      settings.horizon = horizon;
      const auto method = make_method(scene, settings);
      const double start = stored(method->diagnostics());
      for (int frame = 1; frame <= scene.frame_count(); ++frame) {
        ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
        EXPECT_NEAR(stored(method->diagnostics()) / start, 1, 4e-4)
            << static_cast<int>(kind) << " horizon " << horizon << " frame " << frame;
      }
      EXPECT_GE(method->diagnostics().contact_dissipation, 0);
    }
  }
}

// Work of a support that moves, of a load, and of a projectile, each on a body that nothing else acts on: what is stored is
// what was put in. A pull of 400 N, spread over the surface, adds 400 N times the way of the centre of mass but for what it stretches the body by.
TEST(Method, WorkFromOutsideIsAccountedFor) {
  SceneSettings settings = dropped_box();
  settings.obstacles.clear();
  settings.bodies[0].velocity.setZero();
  settings.bodies[0].material.fracture_energy.reset();
  SceneSettings driven = settings, loaded = settings;
  SupportSettings still, moving;
  still.region.half_space = RegionHalfSpace{Vec3(-0.03, 0.05, 0), -Vec3::UnitX()};
  moving.region.half_space = RegionHalfSpace{Vec3(0.03, 0.05, 0), Vec3::UnitX()};
  moving.keyframes = {{0, Vec3::Zero(), {}}, {2e-3, Vec3(0, 1e-3, 0), {}}};
  driven.bodies[0].supports = {still, moving};
  LoadSettings pull;
  pull.region.emplace().all = true;
  pull.value = Vec3(400, 0, 0);
  loaded.loads.push_back(pull);
  loaded.gravity.setZero();
  Settings shot = small(ElementKind::cubes);
  shot.projectile = ProjectileSettings{};
  shot.projectile->position = Vec3(0, 0.15, 0);
  shot.projectile->velocity = Vec3(0, -80, 0);
  shot.projectile->stiffness = 1e13;
  const std::pair<SceneSettings, Settings> cases[] = {
      {driven, small(ElementKind::cubes)}, {loaded, small(ElementKind::cubes)}, {settings, shot}};
  for (std::size_t k = 0; k < 3; ++k) {
    const Scene scene = make_scene(cases[k].first, "");
    const auto method = make_method(scene, cases[k].second);
    const Diagnostics start = method->diagnostics();
    for (int frame = 1; frame <= scene.frame_count(); ++frame)
      method->advance(scene.frame_time(frame), k_never);
    const Diagnostics end = method->diagnostics();
    EXPECT_GT(end.external_work, 0.01) << k;
    EXPECT_NEAR(stored(end) - stored(start), end.external_work, 1e-4 * end.external_work) << k;
    if (k == 1) {
      EXPECT_NEAR(end.external_work, 400 * (end.centre_of_mass - start.centre_of_mass).x(),
                  2e-4 * end.external_work);
    }
  }
}

TEST(Method, SameBitsForAnyNumberOfThreads) {
  const Scene scene = make_scene(dropped_box(), "");
  StateArrays expected;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    const auto method = make_method(scene, small(ElementKind::voronoi));
    for (int frame = 1; frame <= 5; ++frame) method->advance(scene.frame_time(frame), k_never);
    if (threads == 1) expected = state_of(*method);
    EXPECT_EQ(state_of(*method), expected) << threads;
  }
  set_thread_count(0);
}

TEST(Method, DeformingSurfaceKeepsTheInputsVertices) {
  SceneSettings settings = dropped_box();
  settings.bodies[0].material.fracture_energy.reset();
  settings.bodies[0].material.young = 4e7;
  const Scene scene = make_scene(settings, "");
  Settings deforming = small(ElementKind::voronoi);
  deforming.surface = WrittenSurface::deforming;
  const auto method = make_method(scene, deforming);
  const Points& rest = scene.bodies[0].surface().vertices;
  const Geometry start = method->fields()[0];
  EXPECT_LT((start.points - rest).cwiseAbs().maxCoeff(), 1e-15);
  const auto velocity = std::find_if(start.arrays.begin(), start.arrays.end(),
                                     [](const FieldArray& array) { return array.name == "velocity"; });
  ASSERT_NE(velocity, start.arrays.end());
  for (std::size_t v = 0; v < velocity->values.size(); v += 3)
    EXPECT_EQ(velocity->values[v + 1], settings.bodies[0].velocity.y());
  for (int frame = 1; frame <= 10; ++frame) method->advance(scene.frame_time(frame), k_never);
  const Points now = method->fields()[0].points;
  ASSERT_EQ(now.rows(), rest.rows());
  // It has fallen by about 15 m/s × 2 ms minus the impact, and has been squeezed.
  EXPECT_LT(now.col(1).mean(), rest.col(1).mean() - 0.005);
  EXPECT_GT(now.col(1).minCoeff(), -0.01);
  const Diagnostics d = method->diagnostics();
  EXPECT_NEAR(d.mass, 2200 * 0.1 * 0.06 * 0.05, 1e-10);
}

// Points have velocities in every method; a body that spins shows whose they are.
TEST(Method, FragmentsHaveTheVelocitiesOfTheirParticlesAtPoints) {
  SceneSettings settings = dropped_box();
  settings.bodies[0].velocity = Vec3::Zero();
  settings.bodies[0].angular_velocity = Vec3(0, 10, 0);
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, small(ElementKind::cubes));
  const std::vector<Geometry> start = method->fields();
  const auto velocity = std::find_if(start[0].arrays.begin(), start[0].arrays.end(),
                                     [](const FieldArray& array) { return array.name == "velocity"; });
  ASSERT_NE(velocity, start[0].arrays.end());
  ASSERT_EQ(velocity->on, Association::point);
  const Vec3 centre = start[1].points.colwise().mean().transpose();
  const double spacing = std::cbrt(0.1 * 0.06 * 0.05 / static_cast<double>(start[1].points.rows()));
  for (Eigen::Index p = 0; p < start[0].points.rows(); ++p) {
    const Vec3 v(velocity->values.data() + 3 * p);
    const Vec3 expected = Vec3(0, 10, 0).cross(Vec3(start[0].points.row(p)) - centre);
    EXPECT_LT((v - expected).norm(), 10 * 1.2 * spacing) << p;  // the particle may be as far away
  }
}

// One pair of particles across the gap set the horizon of both bodies: they fell to dust.
TEST(Method, BodiesThatLieCloseTogetherKeepTheirBonds) {
  const auto bonds_at = [](double gap) {
    SceneSettings settings = dropped_box();
    settings.bodies[0].rotation = {};
    settings.bodies.push_back(settings.bodies[0]);
    settings.bodies[1].name = "upper";
    settings.bodies[1].position.y() += settings.bodies[0].surface.box->size.y() + gap;
    const Scene scene = make_scene(settings, "");
    const auto method = make_method(scene, small(ElementKind::voronoi));
    for (const Note& note : method->notes()) {
      if (const auto at = note.text.find(" bonds ("); at != std::string::npos)
        return std::stod(note.text.substr(note.text.rfind(',', at) + 1));
    }
    return 0.0;
  };
  const double apart = bonds_at(1);
  EXPECT_GT(apart, 1000);
  EXPECT_NEAR(bonds_at(1e-5), apart, 0.1 * apart);
}

// Friction left what the half kick adds: a body crept down a slope on which it should lie, by half of what a step adds.
TEST(Method, FrictionHoldsABodyOnASlope) {
  SceneSettings settings = dropped_box();
  settings.time = {0.3, 100, 1};
  settings.gravity = 9.81 * Vec3(std::sin(0.35), -std::cos(0.35), 0);  // 20°
  settings.bodies[0].velocity = Vec3::Zero();
  settings.bodies[0].rotation = {};
  settings.bodies[0].position.y() = 0.5 * settings.bodies[0].surface.box->size.y();
  settings.bodies[0].material.young = 1e6;
  settings.bodies[0].material.friction = 0.8;
  settings.bodies[0].material.fracture_energy.reset();
  settings.obstacles[0].friction.reset();
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, small(ElementKind::cubes));
  std::vector<double> places;
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
    places.push_back(method->diagnostics().centre_of_mass.x());
  }
  const auto mean = [&](std::size_t first) {
    return std::accumulate(places.begin() + static_cast<std::ptrdiff_t>(first),
                           places.begin() + static_cast<std::ptrdiff_t>(first + 10), 0.0) /
           10;
  };
  EXPECT_NEAR(mean(20), mean(10), 2e-5);
}

// Waves of 2.6 m/s allow steps in which 100 m/s are metres: particles were found below the floor by twenty times the
// body's size, and the run was called done.
TEST(Method, ASoftBodyFasterThanItsWavesIsNotLostUnsaid) {
  SceneSettings settings = dropped_box();
  settings.time = {0.04, 1000, 1};
  settings.bodies[0].velocity = Vec3(0, -100, 0);
  settings.bodies[0].material.density = 3000;
  settings.bodies[0].material.young = 2e4;
  settings.bodies[0].material.fracture_energy.reset();
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, small(ElementKind::cubes));
  StepReport report;
  double lowest = 0;
  for (int frame = 1; frame <= 40 && report.status == Status::ok; ++frame) {
    report = method->advance(scene.frame_time(frame), [] { return false; });
    if (report.status == Status::ok) lowest = std::min(lowest, method->diagnostics().centre_of_mass.y());
  }
  EXPECT_GT(lowest, -0.01);
  EXPECT_TRUE(report.status == Status::ok || !report.message.empty());
}

TEST(Method, RefusesAbsurdSizes) {
  const Scene scene = make_scene(dropped_box(), "");
  Settings settings = small(ElementKind::voronoi);
  settings.particles = 20'000'000;
  settings.horizon = 6;
  EXPECT_THROW(make_method(scene, settings), InputError);
}

bool has_warning(const Method& method, const std::string& text) {
  for (const Note& note : method.notes()) {
    if (note.severity == Severity::warning && note.text.find(text) != std::string::npos) return true;
  }
  return false;
}

// Expects InputError at a path, with a text in its message.
void expect_refused(const Scene& scene, const Settings& settings, const std::string& path,
                    const std::string& text) {
  try {
    make_method(scene, settings);
    ADD_FAILURE() << "was not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems()[0].path, path);
    EXPECT_NE(error.problems()[0].message.find(text), std::string::npos) << error.what();
  }
}

TEST(Method, SaysWhenTooFewParticlesAreAcross) {
  SceneSettings thin = dropped_box();
  thin.bodies[0].surface.box = BoxParams{Vec3(0.1, 0.01, 0.1), Eigen::Vector3i(4, 2, 4)};
  const Scene scene = make_scene(thin, "");
  Settings settings = small(ElementKind::cubes);
  settings.particles = 12800;  // spacing 0.01/5
  EXPECT_FALSE(has_warning(*make_method(scene, settings), "across"));
  settings.particles = 800;  // spacing 0.01/2
  EXPECT_TRUE(has_warning(*make_method(scene, settings), "are 2 particles across, and the horizon spans 3"));
  settings.particles = 60;
  expect_refused(scene, settings, "methods.peridynamics.particles",
                 "too few; at least 100 would do, and 2700");
}

// Rounding made one particle across less than one, and the advice was what had been asked for.
TEST(Method, APlateOneParticleThickIsMade) {
  SceneSettings thin = dropped_box();
  thin.bodies[0].surface.box = BoxParams{Vec3(0.1, 0.01, 0.1), Eigen::Vector3i(4, 2, 4)};
  const Scene scene = make_scene(thin, "");
  Settings settings = small(ElementKind::cubes);
  settings.particles = 100;
  EXPECT_TRUE(has_warning(*make_method(scene, settings),
                          "are 1 particle across, and the horizon spans 3: bonds reach from one side to the "
                          "other; about 2700 particles"));
  settings.particles = 2700;
  EXPECT_FALSE(has_warning(*make_method(scene, settings), "across"));
}

TEST(Method, NotchesAndCracksWithoutEffectAreSaid) {
  const Scene scene = make_scene(dropped_box(), "");
  Settings settings = small(ElementKind::cubes);
  const NotchSettings through{NotchPlane{Vec3(0, 0.05, 0), Vec3::UnitX()}, {}, {}},
      beside{{}, NotchDisc{Vec3(0, 1, 0), Vec3::UnitY(), 0.1}, {}};
  settings.notches = {through, beside};
  settings.cracks = CrackSettings{};
  settings.cracks->centre = Vec3(5, 0, 0);
  settings.cracks->length = 0.1;
  const auto idle = make_method(scene, settings);
  EXPECT_FALSE(has_warning(*idle, "notches[0]"));
  EXPECT_TRUE(has_warning(*idle, "methods.peridynamics.notches[1] cuts no bond"));
  EXPECT_TRUE(has_warning(*idle, "methods.peridynamics.cracks weaken no bond"));
  settings.notches = {through};
  settings.cracks->centre = Vec3(0.02, 0.05, 0);
  EXPECT_FALSE(has_warning(*make_method(scene, settings), "no effect"));
}

TEST(Method, SaysWhenTheStepIsAboveTheBound) {
  const Scene scene = make_scene(dropped_box(), "");
  Settings settings = small(ElementKind::cubes);
  EXPECT_FALSE(has_warning(*make_method(scene, settings), "stability bound"));
  settings.step = 7e-6;
  EXPECT_TRUE(has_warning(*make_method(scene, settings), "stability bound of Silling and Askari"));
  settings.step = 1e-4;
  expect_refused(scene, settings, "methods.peridynamics.step", "times the stability bound");
}

// A step of 1e-30 s ended in a number of steps that no integer holds, a body 1e12 m away in particles that were all at one
// place.
TEST(Method, RefusesStepsThatCannotBeCountedAndPlacesThatCannotBeTold) {
  SceneSettings settings = dropped_box();
  Settings own = small(ElementKind::cubes);
  own.step = 1e-30;
  expect_refused(make_scene(settings, ""), own, "methods.peridynamics.step", "at most 1e+09 would do");
  own.step = 0;
  settings.bodies[0].position.x() = 1e12;
  expect_refused(make_scene(settings, ""), own, "bodies", "box lies 1e+12 m from the origin");
  settings.bodies[0].position.x() = 1e4;
  EXPECT_NO_THROW(make_method(make_scene(settings, ""), own));
}

// Files of other programs may have all their triangles the wrong way round.
TEST(Method, ASurfaceThatIsInsideOutIsTurnedRound) {
  SceneSettings settings = dropped_box();
  settings.bodies[0].rotation = {};
  settings.bodies[0].position.setZero();
  settings.bodies[0].velocity.setZero();
  const Scene right = make_scene(settings, "");
  TriMesh turned = right.bodies[0].surface();
  turned.triangles.col(1).swap(turned.triangles.col(2));
  const std::string path = ::testing::TempDir() + "/peridynamics_inside_out.obj";
  write_surface(path, turned);
  settings.bodies[0].surface.box.reset();
  settings.bodies[0].surface.file = path;
  const Scene wrong = make_scene(settings, "");
  for (const ElementKind kind : {ElementKind::cubes, ElementKind::tets, ElementKind::voronoi}) {
    const auto method = make_method(wrong, small(kind));
    EXPECT_NEAR(method->diagnostics().mass, 2200 * 0.1 * 0.06 * 0.05, 1e-3) << static_cast<int>(kind);
    const Geometry pieces = method->fields()[0];
    Triangles triangles(static_cast<Eigen::Index>(pieces.connectivity.size() / 3), 3);
    for (Eigen::Index k = 0; k < triangles.size(); ++k)
      triangles(k / 3, k % 3) = pieces.connectivity[static_cast<std::size_t>(k)];
    EXPECT_NEAR(signed_volume(pieces.points, triangles), 0.1 * 0.06 * 0.05, 1e-8) << static_cast<int>(kind);
  }
}

TEST(Method, RefusesAnOpenSurface) {
  const Scene whole = make_scene(dropped_box(), "");
  TriMesh open = whole.bodies[0].surface();
  open.triangles.conservativeResize(open.triangles.rows() - 1, 3);
  EXPECT_NO_THROW(require_closed(whole.bodies[0].surface(), "box", ""));
  try {
    require_closed(open, "box", "bodies[0].surface");
    ADD_FAILURE() << "was not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems()[0].path, "bodies[0].surface");
    EXPECT_NE(error.problems()[0].message.find("3 of its edges"), std::string::npos) << error.what();
  }
}

TEST(Method, ThinPartOfAPlateIsItsThickness) {
  SceneSettings plate = dropped_box();
  plate.bodies[0].rotation = {};
  for (const double thickness : {1e-2, 1e-5, 1e-9}) {
    plate.bodies[0].surface.box = BoxParams{Vec3(0.1, thickness, 0.1), Eigen::Vector3i(4, 2, 4)};
    EXPECT_NEAR(thin_part(make_scene(plate, "").bodies[0].surface()), thickness, 1e-4 * thickness);
  }
}

// Filling took minutes before the thickness was looked at.
TEST(Method, FilmsAreRefusedBeforeTheyAreFilled) {
  SceneSettings film = dropped_box();
  film.bodies[0].rotation = {};
  for (const double thickness : {1e-4, 1e-5, 1e-9}) {
    film.bodies[0].surface.box = BoxParams{Vec3(0.2, thickness, 0.2), Eigen::Vector3i(4, 1, 4)};
    const Scene scene = make_scene(film, "");
    for (const ElementKind kind : {ElementKind::cubes, ElementKind::tets, ElementKind::voronoi})
      expect_refused(scene, small(kind), "methods.peridynamics.particles", "less than one particle across");
  }
}

// Cells of a body of a micrometre were all lost to a tolerance in metres.
TEST(Method, BodiesOfAnySizeAreFilled) {
  for (const double scale : {1e-3, 1e-5, 1e-7}) {
    SceneSettings settings = dropped_box();
    settings.bodies[0].surface.scale = scale;
    settings.bodies[0].position *= scale;
    settings.time = {1e-9, 1e9, 1};
    const Scene scene = make_scene(settings, "");
    for (const ElementKind kind : {ElementKind::cubes, ElementKind::voronoi}) {
      const auto method = make_method(scene, small(kind));
      EXPECT_NEAR(method->diagnostics().mass / (2200 * 0.1 * 0.06 * 0.05 * scale * scale * scale), 1, 1e-6)
          << scale << " " << static_cast<int>(kind);
    }
  }
}

TEST(Method, AVelocityFieldThatIsWrongIsSaidWithItsPlace) {
  const Scene scene = make_scene(dropped_box(), "");
  Settings settings = small(ElementKind::cubes);
  settings.velocities.resize(2);
  settings.velocities[1].gradient = {Vec3::UnitX()};
  expect_refused(scene, settings, "methods.peridynamics.velocities[1].gradient", "three rows");
  settings.velocities[1].gradient.clear();
  settings.velocities[1].region.sphere = RegionSphere{Vec3(9, 9, 9), 0.1};
  expect_refused(scene, settings, "methods.peridynamics.velocities[1].region", "no particle");
}

// The stable step of a body without stiffness is longer than the scene's.
TEST(Method, AtLeastOneStepIsCountedPerSceneStep) {
  SceneSettings settings = dropped_box();
  settings.bodies[0].material.young = 1e-300;
  const auto method = make_method(make_scene(settings, ""), small(ElementKind::cubes));
  const Notes notes = method->notes();
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const Note& note) {
    return note.text.find("; 10 steps take about") != std::string::npos;
  }));
}

TEST(Method, ValidationCases) {
  for (const ValidationCase& validation : validation_cases()) {
    if (validation.slow) continue;
    for (const ValidationRecord& record : validation.run({})) {
      EXPECT_TRUE(record.ok) << validation.name << ": " << record.quantity << " measured " << record.measured
                             << " expected " << record.expected;
    }
  }
}

}  // namespace
}  // namespace exemplar::peridynamics
