// What the report page shows in 3D: surfaces and obstacles of every run as compressed, quantised frames.
//
// A layer's positions are 16-bit integers in its bounding box over all frames, stored as differences to the
// frame before (modulo 2¹⁶), low bytes first and then high bytes, deflated. Triangles are 32-bit indices. A
// surface that breaks changes its triangles: each stretch of frames with the same ones is a segment.
// Surfaces with more vertices than the limit are decimated (a subset of their own vertices), the same way in
// every run, so that runs stay comparable point by point.
//
// Scalar arrays of the surfaces (stress, plastic strain, damage, example weights …) go with them as bytes on
// one scale for all runs: 0 is the smallest value of any run and frame, 255 the largest; differences to the
// frame before (modulo 2⁸), deflated. An array that lives on triangles is averaged to their corners.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/results/collect.h"

namespace exemplar {

struct ExportLimits {
  int frames = 121;     // at most; evenly spaced
  int vertices = 5000;  // of one surface, more or less
  int fields = 10;      // arrays; those that most runs have come first
};

struct ExportSegment {
  int frames = 0, points = 0, triangles = 0;
};

// Values of one array, a list of vertices for every frame; empty where the frame lacks the array.
struct FieldFrames {
  std::string name;
  std::vector<std::vector<float>> frames;
};

struct ExportLayer {
  Vec3 low = Vec3::Zero(), high = Vec3::Zero();
  std::vector<ExportSegment> segments;
  std::string positions, indices;             // deflated bytes
  int original_points = 0;                    // before decimation, of the first frame
  std::vector<FieldFrames> values;            // until the scales of all runs are known
  std::map<std::string, std::string> fields;  // deflated bytes
};

struct ExportedRun {
  int frames = 0;
  ExportLayer surface, obstacles;
};

struct FieldScale {
  std::string name;
  double low = 0, high = 0;  // over all runs and frames shown
};

struct Exported {
  std::vector<double> times;      // s, of the frames on the page
  int written_frames = 0;         // that the longest run has
  std::vector<ExportedRun> runs;  // as in the comparison; no frames where a run has none
  std::vector<FieldScale> fields;
};

Exported export_frames(const Comparison& comparison, const ExportLimits& limits = {});

// Vertices to keep and the triangles between them, at most about `target` vertices.
struct Decimated {
  std::vector<int> vertices;
  Triangles triangles;
};
Decimated decimate(const TriMesh& mesh, int target);

std::string deflate_bytes(const std::string& bytes);
std::string base64(const std::string& bytes);

}  // namespace exemplar
