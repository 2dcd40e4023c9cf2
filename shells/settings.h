// Settings of method `shell`.
#pragma once

#include <optional>

#include "core/run/implicit_settings.h"
#include "shells/sheet_body.h"

namespace exemplar::shells {

struct ShellExampleSettings {
  double stiffness = 1;
  double bending = 1;
  bool affine = false;
};

enum class YieldSection { full, first_fibre };

struct ShellPlasticSettings {
  bool use_examples = true;
  YieldSection section = YieldSection::full;
  std::optional<double> yield_stress;
};

// Stiffnesses of the paper's model, instead of those that fit the material.
struct PaperSettings {
  std::optional<double> stretching, area, bending;
};

struct ShellSettings : ImplicitSettings {
  SheetModelKind model = SheetModelKind::physical;
  bool curved_membrane = false;
  PaperSettings paper;
  double internal_stiffness = 1;
  ShellExampleSettings examples;
  ShellPlasticSettings plasticity;
};

inline void describe(Describe<ShellExampleSettings>& d) {
  d.field("stiffness", &ShellExampleSettings::stiffness, "",
          "stiffness of the example potential, relative to the material; 0: off", non_negative())
      .live();
  d.field("bending", &ShellExampleSettings::bending, "", "further factor on its bending part",
          non_negative());
  d.field("affine", &ShellExampleSettings::affine, "", "let weights leave the simplex");
}

inline void describe(Describe<ShellPlasticSettings>& d) {
  d.field("use_examples", &ShellPlasticSettings::use_examples, "",
          "confine plastic flow to the plastic examples where the body has some");
  d.choice("section", &ShellPlasticSettings::section,
           {{"full", YieldSection::full}, {"first-fibre", YieldSection::first_fibre}},
           "bending yields when the whole section does (1.5 times the moment) or its outermost fibre");
  d.field("yield_stress", &ShellPlasticSettings::yield_stress, "Pa", "instead of the material's", positive());
}

inline void describe(Describe<PaperSettings>& d) {
  d.field("stretching", &PaperSettings::stretching, "N", "k_L; default fits the material", non_negative());
  d.field("area", &PaperSettings::area, "N/m", "k_A; default fits the material", non_negative());
  d.field("bending", &PaperSettings::bending, "N·m", "k_B; default a third of the flexural rigidity",
          non_negative());
}

inline void describe(Describe<ShellSettings>& d) {
  d.name("shell");
  d.choice("model", static_cast<SheetModelKind ShellSettings::*>(&ShellSettings::model),
           {{"physical", SheetModelKind::physical}, {"paper", SheetModelKind::paper}},
           "plane stress and curvature per triangle, or edge lengths, areas and hinges as in the paper");
  d.field("curved_membrane", &ShellSettings::curved_membrane, "",
          "physical model: measure edges along their arc, against membrane locking of coarse thin sheets");
  d.field("paper", &ShellSettings::paper, "", "stiffnesses of the paper's model");
  describe_mode(d);
  d.field("internal_stiffness", &ShellSettings::internal_stiffness, "",
          "stiffness of the conventional potential, relative to the material; 0: off", non_negative());
  d.field("examples", &ShellSettings::examples, "", "the example potential");
  d.field("plasticity", &ShellSettings::plasticity, "", "plastic flow of sheets with a yield stress");
  describe_implicit(d);
}

}  // namespace exemplar::shells
