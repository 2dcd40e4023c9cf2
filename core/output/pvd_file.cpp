#include "core/output/pvd_file.h"

#include <fmt/format.h>
#include <vtkCallbackCommand.h>
#include <vtkNew.h>
#include <vtkXMLDataElement.h>
#include <vtkXMLDataParser.h>

#include <cstdlib>

#include "core/base/errors.h"
#include "core/output/atomic_file.h"

namespace exemplar {

namespace fs = std::filesystem;

std::string escape_xml(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::vector<PvdEntry> read_pvd(const fs::path& path) {
  if (!fs::is_regular_file(path)) throw InputError(Problem{path.string(), {}, "there is no such collection"});
  vtkNew<vtkXMLDataParser> parser;
  vtkNew<vtkCallbackCommand> silence;  // the exception says it; VTK would also print
  parser->AddObserver(vtkCommand::ErrorEvent, silence);
  parser->SetFileName(path.c_str());
  vtkXMLDataElement* root = parser->Parse() ? parser->GetRootElement() : nullptr;
  vtkXMLDataElement* collection = root ? root->FindNestedElementWithName("Collection") : nullptr;
  if (!collection) throw InputError(Problem{path.string(), {}, "is not a ParaView collection (.pvd)"});
  std::vector<PvdEntry> entries;
  for (int i = 0; i < collection->GetNumberOfNestedElements(); ++i) {
    vtkXMLDataElement* element = collection->GetNestedElement(i);
    const char* file = element->GetAttribute("file");
    const char* time = element->GetAttribute("timestep");
    if (!file) throw InputError(Problem{path.string(), {}, fmt::format("entry {} names no file", i)});
    entries.push_back(
        {time ? std::strtod(time, nullptr) : static_cast<double>(i), path.parent_path() / file});
  }
  return entries;
}

std::string PvdFile::text() const {
  std::string text =
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
      "  <Collection>\n";
  for (const PvdEntry& entry : m_entries) {
    text += fmt::format("    <DataSet timestep=\"{}\" group=\"\" part=\"0\" file=\"{}\"/>\n", entry.time,
                        escape_xml(entry.file.generic_string()));
  }
  return text + "  </Collection>\n</VTKFile>\n";
}

void PvdFile::save() const {
  write_file_atomically(m_path, text());
}

}  // namespace exemplar
