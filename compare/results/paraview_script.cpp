#include "compare/results/paraview_script.h"

#include <fmt/format.h>

#include "compare/jobs/quoting.h"
#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

// The script's fixed part; RUNS, LOW and HIGH come before it.
const char* const k_script = R"PY(
import math
import os
import sys

here = os.path.dirname(os.path.abspath(__file__)) if '__file__' in globals() else os.getcwd()
# Python looks beside a script first, where this file itself would be taken for the package `paraview`.
sys.path = [p for p in sys.path if os.path.abspath(p or '.') != here]
from paraview.simple import *

paraview.simple._DisableFirstRenderCameraReset()
centre = [0.5 * (a + b) for a, b in zip(LOW, HIGH)]
radius = 0.5 * math.dist(LOW, HIGH)


def make_view(run):
    view = CreateView('RenderView')
    view.Background = [1, 1, 1]
    view.UseColorPaletteForBackground = 0
    view.OrientationAxesVisibility = 0
    surface = PVDReader(registrationName=run['name'], FileName=os.path.join(here, run['directory'], 'surface.pvd'))
    shown = Show(surface, view)
    shown.ColorArrayName = ['POINTS', '']
    shown.DiffuseColor = run['colour']
    shown.AmbientColor = run['colour']
    obstacles = os.path.join(here, run['directory'], 'obstacles.pvd')
    if os.path.exists(obstacles):
        grey = Show(PVDReader(registrationName=run['name'] + ', obstacles', FileName=obstacles), view)
        grey.ColorArrayName = ['POINTS', '']
        grey.DiffuseColor = grey.AmbientColor = [0.75, 0.76, 0.78]
    label = Show(Text(registrationName=run['name'] + ', label', Text=run['name']), view)
    label.Color = run['colour']
    label.FontSize = 22
    label.Bold = 1
    return view


def place_in_grid(layout, views):
    """Splits the layout into rows and columns, the first run top left."""
    columns = math.ceil(math.sqrt(len(views)))
    rows = math.ceil(len(views) / columns)
    cells, rest = [], 0
    for r in range(rows):
        here_row, rest = (rest, None) if r == rows - 1 else split(layout, rest, 'vertical', rows - r)
        in_row = views[r * columns:(r + 1) * columns]
        cell = here_row
        for c, view in enumerate(in_row):
            this, cell = (cell, None) if c == len(in_row) - 1 else split(layout, cell, 'horizontal', len(in_row) - c)
            cells.append((this, view))
    for cell, view in cells:
        layout.AssignView(cell, view)


def split(layout, cell, direction, parts):
    first = (layout.SplitVertical if direction == 'vertical' else layout.SplitHorizontal)(cell, 1.0 / parts)
    return first, first + 1


def look(view):
    view.CameraFocalPoint = centre
    distance = 1.15 * radius / math.sin(math.radians(15))
    length = math.sqrt(0.5 ** 2 + 0.42 ** 2 + 0.85 ** 2)
    view.CameraPosition = [c + distance * d / length for c, d in zip(centre, (0.5, 0.42, 0.85))]
    view.CameraViewUp = [0, 1, 0]
    view.CameraViewAngle = 30


views = [make_view(run) for run in RUNS]
if not views:
    sys.exit('no run of this comparison has frames')
layout = CreateLayout('Exemplar')
place_in_grid(layout, views)
for view in views:
    look(view)
for view in views[1:]:
    AddCameraLink(views[0], view, 'camera of %d' % views.index(view))
scene = GetAnimationScene()
scene.UpdateAnimationUsingDataTimeSteps()
batch = servermanager.vtkProcessModule.GetProcessType() == servermanager.vtkProcessModule.PROCESS_BATCH
if batch or os.environ.get('EXEMPLAR_SCREENSHOT'):
    scene.GoToLast()
    picture = os.environ.get('EXEMPLAR_SCREENSHOT') or os.path.join(here, 'paraview.png')
    columns = math.ceil(math.sqrt(len(views)))
    rows = math.ceil(len(views) / columns)
    layout.SetSize(480 * columns, 360 * rows)
    RenderAllViews()
    SaveScreenshot(picture, layout, ImageResolution=[480 * columns, 360 * rows])
    print(picture)
else:
    RenderAllViews()
)PY";

std::string rgb(const std::string& colour) {
  const auto part = [&](std::size_t k) {
    return std::stoi(colour.substr(1 + 2 * k, 2), nullptr, 16) / 255.0;
  };
  return fmt::format("[{}, {}, {}]", part(0), part(1), part(2));
}

std::string point(const Vec3& p) {
  if (!p.allFinite()) return "[0, 0, 0]";
  return fmt::format("[{:.17g}, {:.17g}, {:.17g}]", p.x(), p.y(), p.z());
}

}  // namespace

std::string paraview_script(const Comparison& comparison) {
  std::string runs;
  for (const ComparedRun& run : comparison.runs) {
    if (!run.data.has_frames()) continue;
    runs +=
        fmt::format("    {{'name': {}, 'directory': {}, 'colour': {}}},\n", python_string(run.data.plan.name),
                    python_string(run.data.plan.directory), rgb(run.colour));
  }
  return fmt::format(
      "\"\"\"One linked view per method. In this folder:  paraview --script=paraview.py  or  pvbatch "
      "paraview.py\n"
      "(pvbatch writes paraview.png; without a display: scripts/pvbatch DIR/paraview.py).\"\"\"\n"
      "RUNS = [\n{}]\nLOW, HIGH = {}, {}\n{}",
      runs, point(comparison.view.min), point(comparison.view.max), k_script);
}

void write_paraview_script(const Comparison& comparison) {
  write_file_atomically(comparison.directory / "paraview.py", paraview_script(comparison));
}

}  // namespace exemplar
