#include "compare/render/image.h"

#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPNGWriter.h>
#include <vtkTextProperty.h>
#include <vtkTextRenderer.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "core/output/atomic_file.h"

namespace exemplar::render {

Image::Image(int width_, int height_, Colour fill) : width(width_), height(height_) {
  rgb.resize(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = fill[i % 3];
}

void fill_rectangle(Image& image, int x, int y, int width, int height, Colour colour) {
  for (int j = std::max(y, 0); j < std::min(y + height, image.height); ++j) {
    for (int i = std::max(x, 0); i < std::min(x + width, image.width); ++i) {
      std::copy(colour.begin(), colour.end(), image.pixel(i, j));
    }
  }
}

void paste(Image& image, const Image& other, int x, int y) {
  const int begin = std::max(0, -x), end = std::min(other.width, image.width - x);
  if (begin >= end) return;
  for (int j = std::max(0, -y); j < std::min(other.height, image.height - y); ++j) {
    std::memcpy(image.pixel(x + begin, y + j), other.pixel(begin, j),
                3 * static_cast<std::size_t>(end - begin));
  }
}

Image reduce(const Image& image, int factor) {
  Image reduced(image.width / factor, image.height / factor);
  for (int y = 0; y < reduced.height; ++y) {
    for (int x = 0; x < reduced.width; ++x) {
      int sum[3] = {factor * factor / 2, factor * factor / 2, factor * factor / 2};
      for (int k = 0; k < factor * factor; ++k) {
        const std::uint8_t* from = image.pixel(x * factor + k % factor, y * factor + k / factor);
        for (int c = 0; c < 3; ++c) sum[c] += from[c];
      }
      for (int c = 0; c < 3; ++c)
        reduced.pixel(x, y)[c] = static_cast<std::uint8_t>(sum[c] / (factor * factor));
    }
  }
  return reduced;
}

namespace {

// The text as RGBA with VTK's bounding box (x right and y up from the left end of the base line).
struct RenderedText {
  vtkNew<vtkImageData> pixels;
  int left = 0, right = -1, bottom = 0, top = -1;
};

// VTK's own font has no Greek letters; nullptr where none of these is installed.
const char* font_file(bool bold) {
  static const auto find = [](const std::vector<const char*>& names) -> const char* {
    const auto is_there = [](const char* name) { return std::filesystem::exists(name); };
    const auto found = std::find_if(names.begin(), names.end(), is_there);
    return found == names.end() ? nullptr : *found;
  };
  static const char* const k_plain =
      find({"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
            "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf", "/usr/share/fonts/TTF/DejaVuSans.ttf",
            "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf"});
  static const char* const k_bold = find({"/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf",
                                          "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans-Bold.ttf",
                                          "/usr/share/fonts/TTF/DejaVuSans-Bold.ttf",
                                          "/usr/share/fonts/truetype/liberation/LiberationSans-Bold.ttf"});
  return bold ? k_bold : k_plain;
}

void render_text(const std::string& text, const TextStyle& style, RenderedText& out) {
  vtkNew<vtkTextProperty> property;
  if (const char* file = font_file(style.bold)) {
    property->SetFontFamily(VTK_FONT_FILE);
    property->SetFontFile(file);
  } else {
    property->SetFontFamilyToArial();
  }
  property->SetFontSize(style.size);
  property->SetBold(style.bold);
  property->SetColor(style.colour[0] / 255.0, style.colour[1] / 255.0, style.colour[2] / 255.0);
  vtkTextRenderer* renderer = vtkTextRenderer::GetInstance();
  if (!renderer) throw std::runtime_error("VTK has no text renderer");
  int box[4] = {0, -1, 0, -1};
  if (text.empty() || !renderer->GetBoundingBox(property, text, box, 72)) return;
  if (!renderer->RenderString(property, text, out.pixels, nullptr, 72)) return;
  out.left = box[0];
  out.right = box[1];
  out.bottom = box[2];
  out.top = box[3];
}

void blend(std::uint8_t* to, const unsigned char* rgba) {
  for (int c = 0; c < 3; ++c) {
    to[c] = static_cast<std::uint8_t>((rgba[c] * rgba[3] + to[c] * (255 - rgba[3]) + 127) / 255);
  }
}

}  // namespace

int text_width(const std::string& text, const TextStyle& style) {
  RenderedText rendered;
  render_text(text, style, rendered);
  return rendered.right + 1;
}

void draw_text(Image& image, const std::string& text, int x, int y, const TextStyle& style) {
  RenderedText rendered;
  render_text(text, style, rendered);
  for (int v = rendered.bottom; v <= rendered.top; ++v) {
    for (int u = rendered.left; u <= rendered.right; ++u) {
      const int column = x + u, row = y - v;
      if (column < 0 || column >= image.width || row < 0 || row >= image.height) continue;
      const auto* rgba = static_cast<unsigned char*>(
          rendered.pixels->GetScalarPointer(u - rendered.left, v - rendered.bottom, 0));
      if (rgba) blend(image.pixel(column, row), rgba);
    }
  }
}

void write_png(const std::filesystem::path& path, const Image& image) {
  vtkNew<vtkImageData> data;
  data->SetDimensions(image.width, image.height, 1);
  data->AllocateScalars(VTK_UNSIGNED_CHAR, 3);
  for (int y = 0; y < image.height; ++y) {
    std::memcpy(data->GetScalarPointer(0, image.height - 1 - y, 0), image.pixel(0, y),
                3 * static_cast<std::size_t>(image.width));
  }
  vtkNew<vtkPNGWriter> writer;
  writer->SetInputData(data);
  writer->WriteToMemoryOn();
  writer->Write();
  vtkUnsignedCharArray* bytes = writer->GetResult();
  write_file_atomically(path, {reinterpret_cast<const char*>(bytes->GetPointer(0)),
                               static_cast<std::size_t>(bytes->GetNumberOfValues())});
}

}  // namespace exemplar::render
