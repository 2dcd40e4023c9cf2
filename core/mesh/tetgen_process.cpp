#include "core/mesh/tetgen_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#define TETLIBRARY  // the library as Debian builds it: failures are exceptions
#include <tetgen.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "core/mesh/repair.h"

namespace exemplar {

namespace {

struct Header {
  std::int64_t points;
  std::int64_t tets;
};

bool write_all(int file, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(file, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void fill_input(const TriMesh& surface, const std::vector<Vec3>& holes, double scale, tetgenio& input) {
  input.firstnumber = 0;
  input.numberofpoints = static_cast<int>(surface.vertices.rows());
  input.pointlist = new double[static_cast<std::size_t>(surface.vertices.size())];
  for (Eigen::Index i = 0; i < surface.vertices.size(); ++i)
    input.pointlist[i] = scale * surface.vertices.data()[i];
  input.numberoffacets = static_cast<int>(surface.triangles.rows());
  input.facetlist = new tetgenio::facet[static_cast<std::size_t>(surface.triangles.rows())];
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    tetgenio::facet& facet = input.facetlist[t];
    tetgenio::init(&facet);
    facet.numberofpolygons = 1;
    facet.polygonlist = new tetgenio::polygon[1];
    tetgenio::polygon& polygon = facet.polygonlist[0];
    tetgenio::init(&polygon);
    polygon.numberofvertices = 3;
    polygon.vertexlist =
        new int[3]{surface.triangles(t, 0), surface.triangles(t, 1), surface.triangles(t, 2)};
  }
  if (holes.empty()) return;
  input.numberofholes = static_cast<int>(holes.size());
  input.holelist = new double[3 * holes.size()];
  for (std::size_t h = 0; h < holes.size(); ++h) {
    for (int k = 0; k < 3; ++k) input.holelist[3 * h + k] = scale * holes[h][k];
  }
}

std::string switch_text(const TetgenSwitches& switches, double scale) {
  std::string text = "pQ";
  if (switches.quality > 0) text += fmt::format("q{:.4f}/{:.4f}", switches.quality, switches.min_dihedral);
  if (switches.max_tet_volume > 0)
    text += fmt::format("a{:.12e}", switches.max_tet_volume * std::pow(scale, 3));
  if (switches.keep_surface) text += "Y";
  return text;
}

// The child's whole life. Only TetGen, memory allocation (which glibc keeps usable after fork) and write are
// called.
[[noreturn]] void child(int output, const TriMesh& surface, const std::vector<Vec3>& holes,
                        const std::string& switches, double scale, double time_limit) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGSEGV, SIGABRT, SIGFPE, SIGPIPE}) ::signal(signal, SIG_DFL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const auto seconds = static_cast<rlim_t>(std::ceil(time_limit) + 1);
  const rlimit processor{seconds, seconds};
  ::setrlimit(RLIMIT_CPU, &processor);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  try {
    tetgenio input;
    tetgenio result;
    fill_input(surface, holes, scale, input);
    std::string text = switches;
    tetrahedralize(text.data(), &input, &result);
    if (result.numberoftetrahedra <= 0 || result.numberofcorners != 4) ::_exit(3);
    const Header header{result.numberofpoints, result.numberoftetrahedra};
    const bool sent =
        write_all(output, &header, sizeof header) &&
        write_all(output, result.pointlist, static_cast<std::size_t>(header.points) * 3 * sizeof(double)) &&
        write_all(output, result.tetrahedronlist, static_cast<std::size_t>(header.tets) * 4 * sizeof(int));
    ::_exit(sent ? 0 : 2);
  } catch (...) {
    ::_exit(1);
  }
}

using Clock = std::chrono::steady_clock;

// False when the pipe ends or the time is over first.
bool read_all(int file, void* data, std::size_t size, Clock::time_point deadline) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{file, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = ::read(file, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool receive(int file, double scale, Clock::time_point deadline, TetMesh& mesh) {
  Header header{};
  if (!read_all(file, &header, sizeof header, deadline)) return false;
  mesh.vertices.resize(header.points, 3);
  mesh.tets.resize(header.tets, 4);
  if (!read_all(file, mesh.vertices.data(), static_cast<std::size_t>(mesh.vertices.size()) * sizeof(double),
                deadline) ||
      !read_all(file, mesh.tets.data(), static_cast<std::size_t>(mesh.tets.size()) * sizeof(int), deadline)) {
    return false;
  }
  mesh.vertices /= scale;
  return true;
}

std::string reason(int status, bool late) {
  if (late) return "TetGen did not finish in time";
  if (WIFSIGNALED(status)) return fmt::format("TetGen crashed (signal {})", WTERMSIG(status));
  return "TetGen gave up on the surface";
}

}  // namespace

TetgenRun run_tetgen(const TriMesh& surface, const std::vector<Vec3>& holes, const TetgenSwitches& switches,
                     double time_limit) {
  TetgenRun run;
  const double diagonal =
      (surface.vertices.colwise().maxCoeff() - surface.vertices.colwise().minCoeff()).norm();
  // A power of two brings every size near one and loses no digit on the way back.
  const double scale = std::exp2(-std::floor(std::log2(diagonal)));
  const std::string text = switch_text(switches, scale);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    run.failure = "no pipe for TetGen";
    return run;
  }
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit));
  const pid_t id = ::fork();
  if (id == 0) child(ends[1], surface, holes, text, scale, time_limit);
  ::close(ends[1]);
  if (id < 0) {
    ::close(ends[0]);
    run.failure = "no process for TetGen";
    return run;
  }
  const bool received = receive(ends[0], scale, deadline, run.mesh);
  const bool late = !received && Clock::now() >= deadline;
  ::close(ends[0]);
  if (!received) ::kill(id, SIGKILL);
  int status = 0;
  while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
  }
  if (!received) {
    run.mesh = TetMesh{};
    run.failure = reason(status, late);
    return run;
  }
  orient_tets(run.mesh);
  return run;
}

}  // namespace exemplar
