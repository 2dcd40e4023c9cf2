// The exemplar program: flags → commands (compare/cli/commands.h). Bad input is caught here, once.
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>

#include "compare/cli/commands.h"
#include "compare/cli/interrupt.h"
#include "compare/cli/manual.h"
#include "compare/registered_methods.h"
#include "core/base/errors.h"
#include "core/base/plain_text.h"
#include "core/output/atomic_file.h"
#include "core/run/run_directory.h"

namespace exemplar {
namespace {

struct Arguments {
  bool quiet = false;
  RunArguments run;
  CheckArguments check;
  ListArguments list;
  MeshArguments mesh;
  RigArguments rig;
  PoseArguments pose;
  std::string help;
  CompareArguments compare;
  CertifyArguments certify;
  CouponsArguments coupons;
  ExportArguments export_to;
  RecordArguments validate, bench;
};

// What Exemplar wrote itself needs no flag (core/output/target_file.h).
void add_overwrite(CLI::App& c, bool& overwrite) {
  c.add_flag(
      "--overwrite", overwrite,
      "Replace a file that is there although Exemplar did not make it, or it has been changed since; what "
      "Exemplar made is replaced without it, an input of the same command never");
}

void add_run(CLI::App& app, RunArguments& a) {
  CLI::App* c = app.add_subcommand("run", "Simulate one scene with one method");
  c->footer(
      "Examples:\n"
      "  exemplar run data/scenes/barrels.json --method rigid -o out/barrels\n"
      "  exemplar run data/scenes/barrels.json --set bodies[0].material.young=1e7 --frames 20\n"
      "  exemplar run data/scenes/barrels.json -o out/barrels --resume\n"
      "A directory that holds a run is refused without --resume or --overwrite.");
  c->add_option("scene", a.scene, "Scene file (JSON, comments allowed), or the name of one that ships")
      ->required();
  c->add_option("-m,--method", a.method, "Method (exemplar list methods); default fem");
  c->add_option("-o,--output", a.output, "Directory for the results; default out/<scene>-<method>");
  c->add_option("--set", a.assignments, "Change a setting: PATH=VALUE, e.g. bodies[0].material.young=1e6")
      ->allow_extra_args(false);
  c->add_option("--frames", a.frames, "Stop after this many frames; default: the scene's")
      ->check(CLI::Range(0, 1000000));
  c->add_option("--threads", a.threads, "Threads (0: all); results do not depend on it")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  c->add_option("--blas-threads", a.blas_threads, "Threads of the dense algebra inside factorisations")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  CLI::Option* resume = c->add_flag(
      "--resume", a.resume,
      "Continue from the last checkpoint of the output directory; what is complete is left as it is");
  c->add_flag("--overwrite", a.overwrite,
              "Replace the run that is in the output directory; nothing else there")
      ->excludes(resume);
  c->add_flag("!--no-lock", a.lock, "For file systems without locks: nothing keeps a second process out");
  c->add_flag("--expect", a.expect,
              "Compare the last frame with the scene's expected values (exit 1 if they differ)");
  c->add_flag("--rewrite-expect", a.rewrite_expect, "Write the values seen into the scene's \"expect\"");
}

void add_check(CLI::App& app, CheckArguments& a) {
  CLI::App* c = app.add_subcommand(
      "check",
      "Say what is wrong with scenes or studies (all of a run but the simulation), or damaged in results");
  c->footer(
      "Examples:\n"
      "  exemplar check data/scenes/*.json\n"
      "  exemplar check out/barrels\n"
      "  exemplar check --schema > scene.schema.json");
  c->add_option(
      "files", a.files,
      "Scene or study files; or directories of runs and comparisons, whose files are compared with their "
      "checksums");
  c->add_option("--set", a.assignments, "Change a setting first: PATH=VALUE")->allow_extra_args(false);
  c->add_option("-m,--method", a.method,
                "Only this method must work; default: every method is tried, one must");
  c->add_flag("--fast", a.fast, "Leave out the set-up of methods, which takes as long as that of a run");
  c->add_flag("--json", a.json, "Machine-readable output");
  c->add_flag("--schema", a.schema, "Print the JSON Schema of scenes");
  c->add_flag("--study-schema", a.study_schema, "Print the JSON Schema of studies");
}

void add_list(CLI::App& app, ListArguments& a) {
  CLI::App* c = app.add_subcommand("list", "What there is: methods, scenes, studies, materials, primitives");
  c->footer(
      "Examples:\n  exemplar list methods\n  exemplar list fem\n  exemplar list settings > settings.md");
  c->add_option("what", a.what,
                "methods, scenes, studies, materials, primitives, the name of a method (what it models, its "
                "settings), or "
                "settings (every key, Markdown)");
  c->add_flag("--json", a.json, "Machine-readable output");
}

void add_mesh_input(CLI::App& c, MeshInput& a) {
  c.add_option("input", a.input, "Mesh file, or the name of a primitive (exemplar list primitives)")
      ->required();
  c.add_option("--set", a.assignments, "Parameter of a primitive, e.g. box.size=[1,2,1]")
      ->allow_extra_args(false);
  c.add_option("--max-tet-volume", a.max_tet_volume, "Largest tet [m³]; default: a 2000th of the volume")
      ->check(CLI::PositiveNumber);
  c.add_option("--cage-cell", a.cage_cell, "Cell size of a cage [m]; default: about 1500 cells")
      ->check(CLI::PositiveNumber);
  c.add_option("--quality", a.quality, "Largest radius-edge ratio")
      ->capture_default_str()
      ->check(CLI::Range(1.1, 10.0));
  c.add_flag("!--no-cage", a.cage, "Fill the surface itself, however fine; fail where only a cage would do");
  c.add_flag("--always-cage", a.always_cage, "Use a cage in any case");
}

void add_mesh(CLI::App& app, MeshArguments& a) {
  CLI::App* c =
      app.add_subcommand("mesh", "Inspect, convert and tetrahedralise meshes; list vibration modes");
  c->footer(
      "Examples:\n"
      "  exemplar mesh car --set car.resolution=100 -o car.vtu\n"
      "  exemplar mesh scan.obj --max-tet-volume 1e-6 -o scan.vtu\n"
      "  exemplar mesh scan.obj --problems odd.vtp\n"
      "  exemplar mesh rabbit --modes 10 --material rubber\n"
      "  exemplar mesh out/drape/frames/surface_00020.vtp --distance-to out/drape/frames/surface_00045.vtp");
  add_mesh_input(*c, a);
  c->add_option("-o,--output", a.output, "Write a tet mesh (.vtu) or the surface (.vtp, .obj, .ply)");
  c->add_flag("!--surface-only", a.volume, "No volume");
  c->add_option(
      "--problems", a.problems,
      "Write what keeps the surface from being filled into this .vtp: its array \"problem\" is 1 for border "
      "edges, 2 for edges with more than two triangles, 3 for triangles that cross");
  c->add_option("--modes", a.modes, "List this many vibration frequencies")->check(CLI::Range(1, 200));
  c->add_option("--material", a.material, "Material preset for the modes")->capture_default_str();
  c->add_option(
      "--distance-to", a.distance_to,
      "Only compare with this surface of the same triangles, e.g. another frame of a run: RMS and largest "
      "distance of the vertices, as they are and after the best rigid motion of each body");
  add_overwrite(*c, a.overwrite);
  c->add_flag("--json", a.json, "Machine-readable output");
}

void add_rig(CLI::App& app, RigArguments& a) {
  CLI::App* c = app.add_subcommand("rig", "Place handles in a mesh and compute their skinning weights");
  c->footer(
      "Examples:\n"
      "  exemplar rig barrel -o barrel.rig.json --handles 12 --preview out/barrel-rig\n"
      "  exemplar rig scan.obj -o scan.rig.json --bone 0,0,0,0,1,0 --point 0.2,0.5,0 --handles 8");
  add_mesh_input(*c, a);
  c->add_option("-o,--output", a.output, "Write the rig (.json)");
  c->add_option("--handles", a.handles, "Automatic handles on the surface; default 12 when no other is given")
      ->check(CLI::Range(0, 1000));
  c->add_option("--point", a.points, "Point handle X,Y,Z [m]")->allow_extra_args(false);
  c->add_option("--bone", a.bones, "Bone X,Y,Z,X,Y,Z [m]")->allow_extra_args(false);
  c->add_option("--cage", a.cages, "Cage X,Y,Z,X,Y,Z,X,Y,Z… [m]: a closed polygon")->allow_extra_args(false);
  c->add_option("--preview", a.preview, "Write handles and weights into this folder, for scripts/render");
  add_overwrite(*c, a.overwrite);
  c->add_flag("--json", a.json, "Machine-readable output");
}

void add_pose(CLI::App& app, PoseArguments& a) {
  CLI::App* c = app.add_subcommand("pose", "Make and preview example poses by the handles of a rig");
  c->footer(
      "Examples:\n"
      "  exemplar pose barrel --rig barrel.rig.json --move auto-3=0.1,0,0 -o dented.vtp --preview "
      "out/dented\n"
      "  exemplar pose barrel --fit crushed.obj --tolerance 0.005 --max-handles 48 --save-rig "
      "barrel.rig.json\n"
      "  exemplar pose barrel --run out/barrels-fem --body barrel --max-handles 32 -o crushed.vtp\n"
      "  exemplar pose --reach data/scenes/column.json      (does the body take up its poses?)");
  add_mesh_input(*c, a);
  c->add_option("--rig", a.rig, "Rig file; default: automatic handles");
  c->add_option("--handles", a.handles, "Automatic handles when there is no rig file")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  c->add_option("--move", a.moves, "HANDLE=DX,DY,DZ [m]; HANDLE is a name or @X,Y,Z for the nearest one")
      ->allow_extra_args(false);
  c->add_flag("--others-free", a.others_free, "Handles that are not moved may move along");
  c->add_option("--fit", a.fit, "Fit the bones to this deformed mesh");
  c->add_option("--run", a.run, "Fit the bones to a frame of this run");
  c->add_option("--body", a.body, "Body of that run");
  c->add_option("--frame", a.frame, "Frame of that run; default its last one")->check(CLI::Range(0, 1000000));
  c->add_option("--tolerance", a.tolerance,
                "RMS distance [m] that is good enough; default 1 % of the diagonal")
      ->check(CLI::PositiveNumber);
  c->add_option("--max-handles", a.max_handles, "Add handles where the fit is worst, up to these")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000));
  CLI::Option* reach = c->add_flag("--reach", a.reach,
                                   "INPUT is a scene: the weight of every example when the body is moved to "
                                   "it, and from which stiffness on it wins");
  c->add_option("--method", a.method, "Method that is asked")->capture_default_str()->needs(reach);
  c->add_option("-o,--output", a.output, "Write the posed surface (.vtp, .obj, .ply)");
  c->add_option("--save-rig", a.save_rig, "Write the rig with the added handles");
  c->add_option("--preview", a.preview, "Write frames from rest to the pose into this folder");
  for (const char* posing :
       {"--rig", "--handles", "--move", "--others-free", "--fit", "--run", "--body", "--frame", "--tolerance",
        "--max-handles", "--output", "--save-rig", "--preview"})
    reach->excludes(c->get_option(posing));  // asked of a scene's own poses
  add_overwrite(*c, a.overwrite);
  c->add_flag("--json", a.json, "Machine-readable output");
}

void add_compare(CLI::App& app, CompareArguments& a) {
  CLI::App* c =
      app.add_subcommand("compare", "Run every method of a study on the same scene and compare them");
  c->footer(
      "Examples:\n"
      "  exemplar compare data/studies/plank.json -o out/plank --jobs 2\n"
      "  exemplar compare data/studies/plank.json --dry-run --format snakemake > Snakefile\n"
      "  exemplar compare data/studies/plank.json --watch\n"
      "  exemplar compare data/studies/plank.json --collect out/plank");
  c->add_option("study", a.study, "Study file, or the name of one that ships")->required();
  c->add_option("-o,--output", a.output, "Directory for the results; default out/<study>");
  c->add_option(
       "--methods", a.methods,
       "Only these: names or directories of runs, entries of the study or methods, with commas between")
      ->allow_extra_args(false);
  c->add_option("--set", a.assignments, "Change a setting of the scene: PATH=VALUE")->allow_extra_args(false);
  c->add_option("--jobs", a.jobs, "Runs at the same time")->capture_default_str()->check(CLI::Range(1, 256));
  c->add_option("--threads", a.threads, "Threads of each run (0: all)")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  c->add_option("--frames", a.frames, "Stop every run after this many frames; default: the scene's")
      ->check(CLI::Range(0, 1000000));
  CLI::Option* resume = c->add_flag(
      "--resume", a.resume,
      "Run what is missing, and anew what has changed; without it, runs that have changed are refused");
  c->add_flag("--overwrite", a.overwrite, "Run everything anew, and replace what is there of another study")
      ->excludes(resume);
  c->add_flag("!--no-lock", a.lock, "For file systems without locks: nothing keeps a second process out");
  c->add_flag("--dry-run", a.dry_run, "Print the runs as commands and do nothing");
  c->add_option("--format", a.format, "Of --dry-run")
      ->capture_default_str()
      ->check(CLI::IsMember({"lines", "snakemake"}));
  c->add_flag("!--no-pictures", a.pictures, "No rendered pictures: the report's 3D view draws them");
  c->add_flag("--check", a.check,
              "Exit code 1 when a claim of the study does not hold or its reference is doubtful");
  CLI::Option* watch = c->add_flag(
      "--watch", a.watch, "Serve the report on 127.0.0.1 while the runs go on: it follows the frames");
  c->add_option("--port", a.port, "Of --watch; 0: any that is free")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535))
      ->needs(watch);
  c->add_option("--collect", a.collect, "Compare the finished runs of this directory");
}

void add_certify(CLI::App& app, CertifyArguments& a) {
  CLI::App* c =
      app.add_subcommand("certify", "How far a reference is from its limit; writes it as a file for studies");
  c->footer(
      "Runs the reference at its own steps, at half and a quarter of them, and on a finer mesh.\n"
      "Examples:\n"
      "  exemplar certify data/studies/column.json -o data/references/column.ref\n"
      "  exemplar certify data/scenes/plank.json --method fem\n"
      "  exemplar certify data/studies/column.json --check data/references/column.ref");
  c->add_option("subject", a.subject, "Study (or the name of one that ships), or scene file")->required();
  c->add_option("--method", a.method,
                "Of a study: this method's run instead of the reference; of a scene: which");
  CLI::Option* output = c->add_option("-o,--output", a.output, "Reference file to write");
  c->add_option("--check", a.check,
                "Compare with this reference file instead of writing one; exit code 1 if they differ")
      ->excludes(output);
  c->add_option("--directory", a.directory,
                "For the runs; default out/certify/<name>; complete ones are taken again");
  c->add_option("--set", a.assignments, "Change a setting of the scene: PATH=VALUE")->allow_extra_args(false);
  c->add_option("--jobs", a.jobs, "Runs at the same time")->capture_default_str()->check(CLI::Range(1, 256));
  c->add_option("--threads", a.threads, "Threads of each run (0: all)")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
}

void add_coupons(CLI::App& app, CouponsArguments& a) {
  CLI::App* c =
      app.add_subcommand("coupons", "Ask every method small questions with known answers, at its defaults");
  c->footer(
      "The table shows the error in per cent at the finest resolution that ran: '!' where it is large and "
      "the run\n"
      "says nothing, 'w' where the run warns, '–' where a method does not model it, '~' where the budget "
      "ended it.\n"
      "Examples:\n"
      "  exemplar coupons\n"
      "  exemplar coupons fem shape-matching --coupon thick-cantilever --resolution 2\n"
      "  exemplar coupons --write out/coupon-scenes --coupon slide");
  c->add_option("methods", a.methods, "Methods; default all");
  c->add_option("--coupon", a.coupons, "Only this coupon (exemplar coupons --list)")->allow_extra_args(false);
  c->add_option("--resolution", a.resolution, "The finest of three resolutions")
      ->capture_default_str()
      ->check(CLI::Range(1, 3));
  c->add_option("-o,--output", a.output, "Folder for coupons.csv and the page coupons.html");
  c->add_option("--threads", a.threads, "Runs side by side, of one thread each (0: one per processor)")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  c->add_option("--budget", a.budget, "Processor time [s] after which a run is cut")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  c->add_option("--write", a.scenes, "Write the scenes into this folder instead of running them");
  c->add_option("--record", a.record, "Write the finest results into this file (docs/coupons.csv)");
  c->add_option("--scorecard", a.scorecard, "Print the README's table from such a file");
  c->add_flag("--list", a.list, "Only list the coupons with what they expect");
  add_overwrite(*c, a.overwrite);
}

void add_export(CLI::App& app, ExportArguments& a) {
  CLI::App* c = app.add_subcommand("export", "Write a run or a comparison for other programs");
  c->footer(
      "Formats, by the file's ending:\n"
      "  .glb   glTF 2.0: every viewer, Blender, game engines (one morph target per frame;\n"
      "         bodies with examples also as rest shape and examples with the run's weights)\n"
      "  .usda  USD as text: Houdini, Maya, Omniverse (time-sampled points)\n"
      "  .pc2   point cache, with the mesh that it moves as FILE.pc2.obj: Blender's Mesh Cache modifier\n"
      "  .mp4 .gif  a film (needs ffmpeg)\n"
      "Examples:\n"
      "  exemplar export out/barrels -o barrels.glb\n"
      "  exemplar export out/plank -o plank.usda --from 10 --to 40");
  c->add_option("directory", a.directory, "Directory of a run or of a comparison")->required();
  c->add_option("-o,--output", a.output, "File to write")->required();
  c->add_option("--from", a.first, "First frame; default 0");
  c->add_option("--to", a.last, "Last frame; default the last there is");
  add_overwrite(*c, a.overwrite);
}

CLI::App* add_records(CLI::App& app, const char* name, const char* doc, RecordArguments& a) {
  CLI::App* c = app.add_subcommand(name, doc);
  c->add_option("names", a.names, "Methods or method/case; default all");
  c->add_option("--json", a.json, "Write the records as JSON");
  c->add_option("--markdown", a.markdown, "Write the table as Markdown");
  c->add_option("--directory", a.directory, "Keep plots and inputs of other solvers here");
  add_overwrite(*c, a.overwrite);
  c->add_flag("--list", a.list, "Only list the names");
  return c;
}

void add_commands(CLI::App& app, Arguments& a) {
  app.add_flag("-q,--quiet", a.quiet, "Only results, warnings and errors");
  app.set_version_flag("--version", "exemplar " + program_version());
  app.require_subcommand(1);
  app.fallthrough();
  add_run(app, a.run);
  add_compare(app, a.compare);
  add_mesh(app, a.mesh);
  add_rig(app, a.rig);
  add_pose(app, a.pose);
  add_certify(app, a.certify);
  add_coupons(app, a.coupons);
  add_export(app, a.export_to);
  add_check(app, a.check);
  add_records(app, "validate", "Run the physics validation cases: measured against expected", a.validate)
      ->add_flag("--slow", a.validate.slow, "Also the long cases");
  add_records(app, "bench", "Measure speed on this machine, beside the papers' and peers' figures", a.bench)
      ->add_flag("--slow", a.bench.slow, "Also the largest sizes");
  add_list(app, a.list);
  app.add_subcommand("help", "Print the help of a command: exemplar help run")
      ->add_option("command", a.help, "Name of the command");
  app.add_subcommand("completion", "Print the completion script for bash: source <(exemplar completion)");
  app.add_subcommand("manual", "Print the manual page: exemplar manual | man -l -");
}

int print_help(const CLI::App& app, const std::string& of) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
    if (names.back() != of) continue;
    fmt::print("{}", command->help());
    return k_exit_done;
  }
  if (!of.empty()) throw InputError("there is no command '" + of + "'" + did_you_mean(of, names));
  fmt::print("{}", app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal));
  return k_exit_done;
}

int dispatch(const CLI::App& app, const Arguments& a, const Registry& registry, const Terminal& terminal) {
  const std::string command = app.get_subcommands().front()->get_name();
  if (command == "help") return print_help(app, a.help);
  if (command == "completion" || command == "manual") {
    const std::string text = command == "manual" ? manual_page(app, program_version()) : bash_completion(app);
    fmt::print("{}", text);
    return k_exit_done;
  }
  if (command == "run") return run_command(a.run, registry, terminal);
  if (command == "check") return check_command(a.check, registry, terminal);
  if (command == "list") return list_command(a.list, registry, terminal);
  if (command == "mesh") return mesh_command(a.mesh, terminal);
  if (command == "rig") return rig_command(a.rig, terminal);
  if (command == "pose")
    return a.pose.reach ? reach_command(a.pose, registry, terminal) : pose_command(a.pose, terminal);
  if (command == "compare") return compare_command(a.compare, registry, terminal);
  if (command == "certify") return certify_command(a.certify, registry, terminal);
  if (command == "coupons") return coupons_command(a.coupons, registry, terminal);
  if (command == "export") return export_command(a.export_to, terminal);
  if (command == "validate") return validate_command(a.validate, registry, terminal);
  return bench_command(a.bench, registry, terminal);
}

// Paths and names go into file names, records, scripts and pages. Values of --set may stretch over lines, as JSON does.
void check_texts(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& text : option->results()) {
        const bool is_setting = option->check_name("--set");
        if (is_utf8(text) && !has_control_characters(text, is_setting ? "\n\r\t" : "")) continue;
        throw InputError(fmt::format("{} '{}': is not UTF-8, or holds control characters", option->get_name(),
                                     printable(text)));
      }
    }
  }
}

int guarded_main(int argc, char** argv) {
  CLI::App app{"Simulates example-based materials and compares them with the methods people use instead."};
  app.name("exemplar");
  Arguments arguments;
  add_commands(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? k_exit_done : k_exit_bad_input;
  }
  const Terminal terminal(arguments.quiet);
  install_interrupt_handler();
  try {
    check_texts(app);
    return dispatch(app, arguments, registered_methods(), terminal);
  } catch (const InputError& error) {
    for (const Problem& problem : error.problems()) terminal.error(to_string(problem));
    return k_exit_bad_input;
  } catch (const OutputError& error) {
    terminal.error(error.what());
    return k_exit_cannot_go_on;
  } catch (const std::bad_alloc&) {
    terminal.error("out of memory: use fewer elements or particles");
    return k_exit_cannot_go_on;
  } catch (const std::exception& error) {
    terminal.error(
        fmt::format("this is a defect of the program, what was written is kept: {}", error.what()));
    return k_exit_defect;
  }
}

}  // namespace
}  // namespace exemplar

// Factorisations take and give back megabytes hundreds of times a second. By default the C library returns
// them to the system each time, and getting new pages was a sixth of the processor time of a run.
static void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 64 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

// What fails while a failure is being said ends the program.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  keep_freed_memory();
  return exemplar::guarded_main(argc, argv);
}
