// One function per command of the program; each returns its exit code: 0 done, 2 wrong input or call, 3 the
// simulation could not go on, 130 interrupted. Bad input is thrown as InputError and turned into 2 in main.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/cli/terminal.h"
#include "core/run/registry.h"
#include "core/scene/scene_file.h"

namespace exemplar {

inline constexpr int k_exit_done = 0;
inline constexpr int k_exit_failed_check = 1;
inline constexpr int k_exit_bad_input = 2;
inline constexpr int k_exit_cannot_go_on = 3;
inline constexpr int k_exit_defect = 70;  // sysexits.h: EX_SOFTWARE
inline constexpr int k_exit_interrupted = 130;

struct RunArguments {
  std::string scene;
  std::string method;  // empty: the registry's first that fits
  std::string output;  // empty: out/<scene>-<method>
  std::vector<std::string> assignments;
  int frames = -1;
  int threads = 0;
  int blas_threads = 1;
  bool resume = false;
  bool lock = true;
  bool overwrite = false;       // replace the run that is in the directory
  bool expect = false;          // compare the last frame with the scene's "expect"
  bool rewrite_expect = false;  // write what was seen into the scene file
};
int run_command(const RunArguments& arguments, const Registry& registry, const Terminal& terminal);

struct CheckArguments {
  std::vector<std::string> files;
  std::vector<std::string> assignments;
  std::string method;  // empty: every method
  bool fast = false;   // no set-up of methods
  bool json = false;
  bool schema = false;        // print the JSON Schema of scenes
  bool study_schema = false;  // … of studies
};
int check_command(const CheckArguments& arguments, const Registry& registry, const Terminal& terminal);

struct ListArguments {
  std::string what;  // methods, scenes, studies, materials, primitives or settings; empty: all but settings
  bool json = false;
};
int list_command(const ListArguments& arguments, const Registry& registry, const Terminal& terminal);

// A mesh and how its volume is made: shared by mesh, rig and pose.
struct MeshInput {
  std::string input;                     // a mesh file or the name of a primitive
  std::vector<std::string> assignments;  // of the primitive's parameters, e.g. car.resolution=100
  std::optional<double> max_tet_volume, cage_cell;
  double quality = 1.4;
  bool cage = true, always_cage = false;
};

struct MeshArguments : MeshInput {
  std::string output;    // .vtu, .vtp, .obj, .ply; empty: only the report
  std::string problems;  // .vtp; empty: not written
  bool volume = true;
  int modes = 0;  // list this many vibration frequencies
  std::string material = "rubber";
  std::string distance_to;  // another surface with the same triangles
  bool overwrite = false;
  bool json = false;
};
int mesh_command(const MeshArguments& arguments, const Terminal& terminal);

struct RigArguments : MeshInput {
  std::string output;                             // the rig file; empty: only the report
  std::string preview;                            // a folder for scripts/render
  std::optional<int> handles;                     // automatic ones; none: 12 when no other is given
  std::vector<std::string> points, bones, cages;  // x,y,z…
  bool overwrite = false;
  bool json = false;
};
int rig_command(const RigArguments& arguments, const Terminal& terminal);

struct PoseArguments : MeshInput {
  std::string rig;                 // a rig file; empty: automatic handles
  int handles = 12;                // automatic ones
  std::vector<std::string> moves;  // HANDLE=dx,dy,dz
  bool others_free = false;
  std::string fit;                  // a deformed mesh …
  std::string run, body;            // … or a body of another run
  std::optional<int> frame;         // none: its last one
  std::optional<double> tolerance;  // m; none: a hundredth of the diagonal
  int max_handles = 0;              // add handles up to these
  bool reach = false;               // `input` is a scene: which of its poses are taken up …
  std::string method = "fem";       // … in this method
  std::string output, save_rig, preview;
  bool overwrite = false;
  bool json = false;
};
int pose_command(const PoseArguments& arguments, const Terminal& terminal);
int reach_command(const PoseArguments& arguments, const Registry& registry, const Terminal& terminal);

struct CompareArguments {
  std::string study;
  std::string output;
  std::vector<std::string> methods;  // empty: the study's
  std::vector<std::string> assignments;
  int jobs = 1;
  int threads = 0;
  int frames = -1;
  bool resume = false;
  bool lock = true;
  bool overwrite = false;  // replace what is in the directory
  bool dry_run = false;
  bool pictures = true;          // rendered for the report
  bool check = false;            // claims that do not hold and a doubtful reference are failures
  std::string format = "lines";  // of --dry-run
  std::string collect;           // directory of finished runs
  bool watch = false;            // serve the report while the runs go on
  int port = 0;                  // of that page; 0: any that is free
};
int compare_command(const CompareArguments& arguments, const Registry& registry, const Terminal& terminal);

struct CertifyArguments {
  std::string subject;    // a study or a scene
  std::string method;     // empty: the study's reference
  std::string output;     // of the reference file; empty: beside the runs
  std::string check;      // a reference file to compare with instead
  std::string directory;  // of the runs; empty: out/certify/<name>
  std::vector<std::string> assignments;
  int jobs = 1, threads = 0;
};
int certify_command(const CertifyArguments& arguments, const Registry& registry, const Terminal& terminal);

struct CouponsArguments {
  std::vector<std::string> methods, coupons;  // empty: all
  int resolution = 3;                         // the finest
  int threads = 0;                            // runs side by side; 0: one per processor
  double budget = 60;                         // s of processor time of one run
  std::string output;                         // a folder for coupons.csv and coupons.html
  std::string scenes;                         // a folder for the scenes; then nothing is run
  std::string record;                         // the finest results, for the README
  std::string scorecard;                      // such a file: prints the README's table
  bool list = false;
  bool overwrite = false;
};
int coupons_command(const CouponsArguments& arguments, const Registry& registry, const Terminal& terminal);

struct ExportArguments {
  std::string directory;  // a run or a comparison
  std::string output;     // .glb, .usda, .pc2, .mp4 or .gif
  std::optional<int> first, last;
  bool overwrite = false;
};
int export_command(const ExportArguments& arguments, const Terminal& terminal);

struct RecordArguments {
  std::vector<std::string> names;  // groups or group/case; empty: all
  std::string json, markdown;
  std::string directory;  // for plots and inputs of other solvers
  bool overwrite = false;
  bool slow = false;
  bool list = false;
};
int validate_command(const RecordArguments& arguments, const Registry& registry, const Terminal& terminal);
int bench_command(const RecordArguments& arguments, const Registry& registry, const Terminal& terminal);

// The folder with scenes and studies: $EXEMPLAR_DATA, share/exemplar beside the installed program's folder,
// or data/ of the tree that it was built in.
std::string data_directory();
// A scene or study as it was given, or, for the bare name of one that ships (`plank`), its file.
std::string scene_file(const std::string& given);
std::string study_file(const std::string& given);

}  // namespace exemplar
