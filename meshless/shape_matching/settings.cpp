#include "meshless/shape_matching/settings.h"

namespace exemplar::shape_matching {

void describe(Describe<PlasticitySettings>& d) {
  d.name("shape-matching plasticity");
  d.choice("model", &PlasticitySettings::model,
           {{"automatic", PlasticityModel::automatic},
            {"none", PlasticityModel::none},
            {"stretch", PlasticityModel::stretch},
            {"with-rotation", PlasticityModel::with_rotation}},
           "what flows: stretch alone (Müller 2005) or the whole transformation (bugbear2009 §3.5); "
           "automatic: with "
           "rotation where the material has a yield stress");
  d.choice("reference", &PlasticitySettings::reference,
           {{"neighbours", Reference::neighbours}, {"body", Reference::body}},
           "what a cell's rotation is compared with, so that turning as a whole never yields");
  d.field("yield", &PlasticitySettings::yield, "",
          "deformation (Frobenius norm) above which a cell flows; 0: the material's yield strain",
          non_negative());
  d.field("creep", &PlasticitySettings::creep, "1/s",
          "rate of flow; 0: at once, as in the thesis (the default is calibrated on the plank scene)",
          non_negative());
  d.field("max", &PlasticitySettings::max, "", "bound of a cell's plastic deformation", positive());
}

void describe(Describe<PartSettings>& d) {
  using S = PartSettings;
  d.name("shape-matching part");
  d.field("body", &S::body, "", "the body that is the part");
  d.field("of", &S::of, "", "the body that it is welded to where their surfaces touch; none: to nothing");
  d.field("detach_impulse", &S::detach_impulse, "N s",
          "it comes off when more than this has gone through the weld; without it never", positive());
  d.field("detach_time", &S::detach_time, "s",
          "for how long what has gone through the weld counts; a lasting force counts with force × this time",
          positive());
  d.field("beta", &S::beta, "", "instead of the method's beta", between(0, 0.999));
  d.field("stiffness_time", &S::stiffness_time, "s", "instead of the method's stiffness_time",
          non_negative());
  d.field("damping_ratio", &S::damping_ratio, "", "instead of the method's damping_ratio", between(0, 1));
  d.field("yield", &S::yield, "", "instead of plasticity.yield", non_negative());
  d.field("creep", &S::creep, "1/s", "instead of plasticity.creep", non_negative());
}

Settings settings_for(const std::string& body, const Settings& settings) {
  Settings out = settings;
  for (const PartSettings& part : settings.parts) {
    if (part.body != body) continue;
    out.beta = part.beta.value_or(out.beta);
    out.stiffness_time = part.stiffness_time.value_or(out.stiffness_time);
    out.damping_ratio = part.damping_ratio.value_or(out.damping_ratio);
    out.plasticity.yield = part.yield.value_or(out.plasticity.yield);
    out.plasticity.creep = part.creep.value_or(out.plasticity.creep);
  }
  return out;
}

void describe(Describe<Settings>& d) {
  d.name("shape-matching");
  d.choice("cells", &Settings::cells,
           {{"cubes", CellShape::cubes}, {"tets", CellShape::tets}, {"regions", CellShape::regions}},
           "cubes over the surface, one cell per tetrahedron, or k-means regions of cubes");
  d.field("cell_size", &Settings::cell_size, "m",
          "edge of a cubical cell; 0: about 100 cells over the bounding box", non_negative());
  d.field("cell_counts", &Settings::cell_counts, "",
          "cubical cells along x, y, z instead of a size; 0: from the size");
  d.field("overlap", &Settings::overlap, "",
          "layers of particles that a cubical cell reaches beyond its own corners", between(0, 8));
  d.field("subdivisions", &Settings::subdivisions, "",
          "intervals between particles along the edge of a cubical cell: 2 gives cells of 3³ particles",
          between(1, 8));
  d.field("regions", &Settings::regions, "", "number of k-means regions; 0: one per four cubes",
          non_negative());
  d.field("region_overlap", &Settings::region_overlap, "",
          "a cube joins regions up to this much farther away than the nearest one", non_negative());
  d.field("beta", &Settings::beta, "", "share of the linear part in the transformation (eq. 2.19)",
          between(0, 0.999));
  d.field("conserve_volume", &Settings::conserve_volume, "",
          "the cells and the body as a whole keep their volume");
  d.field("quadratic", &Settings::quadratic, "",
          "nine-term fits, so that one cell can bend and twist; needs beta > 0, which says by how much");
  d.field("iterations", &Settings::iterations, "",
          "passes over the cells in one step (§3.2); 0: as the material asks for, up to max_iterations",
          between(0, 1000));
  d.field("max_iterations", &Settings::max_iterations, "", "limit of the automatic choice", between(1, 1000));
  d.field("levels", &Settings::levels, "",
          "1: the cells alone; more: coarser cells carry stiffness too (§3.2)", between(1, 12));
  d.field(
      "substeps", &Settings::substeps, "",
      "of a scene step; 0: until Young's modulus (nine tenths of it with tets) is reached, up to twice as "
      "many for its damping",
      between(0, 1000));
  d.field("max_substeps", &Settings::max_substeps, "", "limit of the automatic choice", between(1, 1000));
  d.field("stiffness_time", &Settings::stiffness_time, "s",
          "time in which a cell swings by one radian; 0: from Young's modulus, density and cell size",
          non_negative());
  d.field("damping_ratio", &Settings::damping_ratio, "", "of a cell's oscillation", between(0, 1));
  d.field("plasticity", &Settings::plasticity, "", "plastic flow of cells");
  d.field("sleep", &Settings::sleep, "",
          "a plastic body that is quiet moves rigidly until it is hit (§3.1.2)");
  d.choice("embedding", &Settings::embedding,
           {{"smooth", SurfaceEmbedding::smooth}, {"owning-cell", SurfaceEmbedding::owning_cell}},
           "how the surface follows: trilinear weights of the particles, or the transformation of the cell "
           "it lies in");
  d.field("push_speed", &Settings::push_speed, "m/s",
          "speed at which what is inside an obstacle is pushed out", positive());
  d.field("parts", &Settings::parts, "",
          "bodies with parameters of their own, welded to others and detached above an impulse (§1.2, §3.4)");
}

}  // namespace exemplar::shape_matching
