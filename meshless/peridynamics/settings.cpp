#include "meshless/peridynamics/settings.h"

namespace exemplar::peridynamics {

void describe(Describe<ProjectileSettings>& d) {
  using S = ProjectileSettings;
  d.name("peridynamics_projectile");
  d.choice("model", &S::model, {{"levine", ProjectileModel::levine}, {"indent", ProjectileModel::indent}},
           "levine: eq. 7 of levine2014; indent: a sphere that pushes away what is inside it");
  d.field("position", &S::position, "m", "where its centre is at the start");
  d.field("velocity", &S::velocity, "m/s", "constant: it is not slowed");
  d.field("radius", &S::radius, "m", "radius", positive());
  d.field("stiffness", &S::stiffness, "N/m⁵", "K_S: the force density is K_S r² at the sphere", positive());
}

void describe(Describe<CrackSettings>& d) {
  using S = CrackSettings;
  d.name("peridynamics_cracks");
  d.field("centre", &S::centre, "m", "where the weak lines start");
  d.field("axis", &S::axis, "", "the direction along which they cut through").direction();
  d.field("count", &S::count, "", "number of lines", between(1, 1000));
  d.field("length", &S::length, "m", "length of each", positive());
  d.field("wander", &S::wander, "rad", "how much a line turns at each step (standard deviation)",
          non_negative());
  d.field("strength", &S::strength, "", "bonds that cross a line break at this fraction of their limit",
          between(0, 1));
}

void describe(Describe<NotchPlane>& d) {
  d.name("peridynamics_notch_plane");
  d.field("point", &NotchPlane::point, "m", "a point of the plane");
  d.field("normal", &NotchPlane::normal, "", "its normal").direction();
}

void describe(Describe<NotchDisc>& d) {
  d.name("peridynamics_notch_disc");
  d.field("centre", &NotchDisc::centre, "m", "its centre");
  d.field("normal", &NotchDisc::normal, "", "its normal").direction();
  d.field("radius", &NotchDisc::radius, "m", "its radius", positive());
}

void describe(Describe<NotchPatch>& d) {
  d.name("peridynamics_notch_parallelogram");
  d.field("corner", &NotchPatch::corner, "m", "one corner");
  d.field("u", &NotchPatch::u, "m", "one side, from the corner");
  d.field("v", &NotchPatch::v, "m", "the other side, from the corner");
}

void describe(Describe<NotchSettings>& d) {
  d.name("peridynamics_notch");
  d.field("plane", &NotchSettings::plane, "", "a whole plane");
  d.field("disc", &NotchSettings::disc, "", "a flat disc");
  d.field("parallelogram", &NotchSettings::parallelogram, "", "a flat parallelogram");
  d.exactly_one({"plane", "disc", "parallelogram"});
}

void describe(Describe<VelocityField>& d) {
  using S = VelocityField;
  d.name("peridynamics_velocity_field");
  d.field("region", &S::region, "", "the particles that have it; none: all");
  d.field("velocity", &S::velocity, "m/s", "uniform part");
  d.field("gradient", &S::gradient, "1/s", "three rows: a velocity that grows linearly from the centre");
  d.field("angular_velocity", &S::angular_velocity, "rad/s", "a rotation about the centre");
  d.field("centre", &S::centre, "m", "where gradient and rotation give nothing (world coordinates)");
}

Notch notch_of(const NotchSettings& settings) {
  if (settings.plane) return {Notch::Shape::plane, settings.plane->point, settings.plane->normal, 0, {}, {}};
  if (settings.disc)
    return {Notch::Shape::disc, settings.disc->centre, settings.disc->normal, settings.disc->radius, {}, {}};
  const NotchPatch& patch = *settings.parallelogram;
  return {Notch::Shape::parallelogram, patch.corner, Vec3::UnitY(), 0, patch.u, patch.v};
}

namespace {

void describe_display(Describe<Settings>& d) {
  using S = Settings;
  d.choice(
      "surface", &S::surface,
      {{"deforming", WrittenSurface::deforming}, {"fragments", WrittenSurface::fragments}},
      "written surface: the input's vertices carried by the particles, or rigid pieces with fracture faces");
  d.field("split_frames", &S::split_frames, "",
          "frames over which a piece that splits off is drawn on its way to its own motion; 0: at once",
          between(0, 1000));
  d.field("dust_size", &S::dust_size, "m", "fragments smaller than a cube of this side are dust",
          non_negative());
  d.choice(
      "dust", &S::dust,
      {{"surface", DustDisplay::surface}, {"hidden", DustDisplay::hidden}, {"points", DustDisplay::points}},
      "how dust is written: like other fragments, not at all, or as points of a series of its own");
}

void describe_breaking(Describe<Settings>& d) {
  using S = Settings;
  d.field("fracture_energy", &S::fracture_energy, "J/m²", "instead of the material's", positive());
  d.field("critical_strain", &S::critical_strain, "",
          "strain at which bonds break, instead of the fracture energy", positive());
  d.choice("break_rule", &S::break_rule, {{"max", BreakRule::max}, {"min", BreakRule::min}},
           "which of its two particles' limits a bond must exceed to break");
  d.choice("break_order", &S::break_order,
           {{"before_force", BreakOrder::before_force}, {"after_force", BreakOrder::after_force}},
           "whether a bond still pulls in the step in which it breaks");
  d.field("strengthening", &S::strengthening, "", "α of eq. 5: how much compression strengthens",
          non_negative());
  d.field("clamp_strengthening", &S::clamp_strengthening, "", "false: tension weakens too, as in LAMMPS");
  d.field("strength_spread", &S::strength_spread, "", "standard deviation of the limits over their mean",
          between(0, 0.3));
  d.field("cracks", &S::cracks, "", "lines along which bonds are weakened");
  d.field("notches", &S::notches, "", "cuts that are there from the start (world coordinates)");
}

void describe_contact(Describe<Settings>& d) {
  using S = Settings;
  d.choice("contact", &S::contact,
           {{"none", ContactModel::none}, {"levine", ContactModel::levine}, {"emu", ContactModel::emu}},
           "repulsion between particles that are not bonded: eq. 6, or that of EMU and LAMMPS");
  d.field("contact_range", &S::contact_range, "",
          "distance at which eq. 6 begins over the particle spacing; the paper has 0.5", between(0.1, 1));
  d.field("contact_stiffness", &S::contact_stiffness, "N/m⁵", "K_c of eq. 6; 0: from the bulk modulus",
          non_negative());
  d.field("restitution", &S::restitution, "",
          "of particles at obstacles, instead of the obstacles'; the paper has 0.99", between(0, 1));
  d.field("friction", &S::friction, "", "of particles at obstacles, instead of the obstacles'",
          non_negative());
  d.field("projectile", &S::projectile, "", "a sphere that flies through everything");
}

}  // namespace

void describe(Describe<Settings>& d) {
  using S = Settings;
  d.name("peridynamics");
  d.choice("elements", &S::elements,
           {{"cubes", ElementKind::cubes}, {"tets", ElementKind::tets}, {"voronoi", ElementKind::voronoi}},
           "how particles are made and what they look like");
  d.field("particles", &S::particles, "", "about how many, all bodies together", between(2, 20'000'000));
  d.field("layers", &S::layers, "",
          "of tets only: layers of points offset inwards from the surface, with nothing inside the innermost "
          "(levine2014 §4; the paper has 6, more than the horizon); 0: the whole volume",
          between(0, 64));
  d.field("layer_distance", &S::layer_distance, "m",
          "between two layers, instead of one that makes nearly regular tets", positive());
  d.field("horizon", &S::horizon, "", "radius of the bonds over the particle spacing", between(1.01, 12));
  d.field("horizon_length", &S::horizon_length, "m", "the same as a length, whatever the number of particles",
          positive());
  d.field("spacing_quantile", &S::spacing_quantile, "",
          "which quantile of the distances to the nearest particle is the spacing: 0 is the paper's smallest "
          "distance; "
          "otherwise 0.5 for tets and 0 for the others",
          between(0, 1));
  d.field("bulk_modulus", &S::bulk_modulus, "Pa",
          "instead of E/1.5, which keeps the material's Young's modulus (Poisson's ratio is always 1/4)",
          positive());
  d.choice("stiffness", &S::stiffness,
           {{"paper", StiffnessMode::paper},
            {"taper", StiffnessMode::taper},
            {"calibrated", StiffnessMode::calibrated}},
           "bond stiffness: eq. 4; eq. 4 with partial volumes; exact bulk modulus for the given particles");
  d.field("step", &S::step, "s", "longest time step; 0: 0.8 of the stability bound", non_negative());
  describe_display(d);
  describe_breaking(d);
  describe_contact(d);
  d.field("velocities", &S::velocities, "",
          "velocities at the start, besides the body's velocity and angular velocity");
  d.at_most_one({"fracture_energy", "critical_strain"});
  d.at_most_one({"horizon", "horizon_length"});
}

Rules rules_of(const Settings& settings, std::uint64_t seed) {
  Rules rules;
  rules.stiffness = settings.stiffness;
  rules.break_rule = settings.break_rule;
  rules.break_order = settings.break_order;
  rules.contact = settings.contact;
  rules.contact_range = settings.contact_range;
  rules.contact_stiffness = settings.contact_stiffness;
  rules.strengthening = settings.strengthening;
  rules.clamp_strengthening = settings.clamp_strengthening;
  rules.strength_spread = settings.strength_spread;
  rules.weak_factor = settings.cracks ? settings.cracks->strength : 1;
  rules.seed = seed;
  return rules;
}

}  // namespace exemplar::peridynamics
