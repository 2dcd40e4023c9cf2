// The matrix as text: a table for the terminal and for the README, and CSV files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compare/coupons/matrix.h"

namespace exemplar::coupons {

// Quantity × method, the error in per cent of the finest resolution that ran. The first row is the header.
//   +2.1  measured    +34 !  a large error that the run said nothing of    +34 w  … that comes with warnings
//   –  not modelled   cut, failed  no number
std::vector<std::vector<std::string>> score_rows(const std::vector<Cell>& cells,
                                                 const std::vector<std::string>& methods);
std::string score_text(const Cell* cell);

// Why cells have no number, and which errors are large: lines below the table.
std::vector<std::string> remarks_on(const std::vector<Cell>& cells, const std::vector<std::string>& methods);

std::string csv_text(const std::vector<Cell>& cells);
// One row per method and quantity: the finest that ran. What the README's scorecard is made from.
std::vector<Cell> finest_cells(const std::vector<Cell>& cells, const std::vector<std::string>& methods);
// Throws InputError for what csv_text did not write.
std::vector<Cell> read_csv(const std::filesystem::path& file);

// The README's block, between its marks.
std::string scorecard_markdown(const std::vector<Cell>& cells);

}  // namespace exemplar::coupons
