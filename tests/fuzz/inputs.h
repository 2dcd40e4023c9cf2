// Everything that reads a file someone else may have made, fed with arbitrary bytes: the result is a value or an
// InputError, nothing else. The libFuzzer harness (harness.cpp, scripts/fuzz) and the tests over the kept inputs
// (test_inputs.cpp) share these.
#pragma once

#include <string>
#include <vector>

namespace exemplar::fuzz {

// scene, study, record (all files of a run that are read again) and one per mesh format, e.g. mesh-obj.
const std::vector<std::string>& targets();

// True when the bytes were taken for what the target reads. Throws what is not an InputError.
bool read_input(const std::string& target, const std::string& bytes);

}  // namespace exemplar::fuzz
