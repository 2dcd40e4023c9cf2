#include "compare/render/tile.h"

#include <vtkActor.h>
#include <vtkCamera.h>
#include <vtkFloatArray.h>
#include <vtkImageData.h>
#include <vtkLight.h>
#include <vtkNew.h>
#include <vtkOpenGLFXAAPass.h>
#include <vtkOpenGLRenderer.h>
#include <vtkPlane.h>
#include <vtkPlaneSource.h>
#include <vtkPolyDataMapper.h>
#include <vtkProperty.h>
#include <vtkRenderStepsPass.h>
#include <vtkRenderWindow.h>
#include <vtkSSAOPass.h>
#include <vtkTexture.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "compare/render/ground.h"
#include "compare/render/outline.h"
#include "compare/render/poly_data.h"

namespace exemplar::render {

namespace {

// Towards the key light: over the camera's left shoulder, high enough for short shadows.
Vec3 key_direction(const Camera& camera) {
  return (-0.75 * camera.right() + 1.5 * camera.up + 0.55 * camera.backward()).normalized();
}

void add_light(vtkRenderer& renderer, const Vec3& towards, double intensity, const Vec3& colour) {
  vtkNew<vtkLight> light;
  light->SetLightTypeToSceneLight();
  light->PositionalOff();
  light->SetFocalPoint(0, 0, 0);
  light->SetPosition(towards.x(), towards.y(), towards.z());
  light->SetIntensity(intensity);
  light->SetDiffuseColor(colour.x(), colour.y(), colour.z());
  renderer.AddLight(light);
}

void add_lights(vtkRenderer& renderer, const Camera& camera) {
  renderer.RemoveAllLights();
  // The key is spread over three directions for a soft edge between light and shade; then fill, headlight,
  // and what the ground and the sky throw back.
  const Vec3 key = key_direction(camera), warm(1, 0.985, 0.96);
  add_light(renderer, key, 0.30, warm);
  add_light(renderer, key + 0.45 * camera.right(), 0.22, warm);
  add_light(renderer, key - 0.25 * camera.right() + 0.45 * camera.backward(), 0.22, warm);
  add_light(renderer, camera.right() + 0.1 * camera.up + 0.6 * camera.backward(), 0.28, Vec3(0.94, 0.97, 1));
  add_light(renderer, camera.backward() - 0.3 * camera.up, 0.26, Vec3(1, 1, 1));
  add_light(renderer, -camera.up, 0.16, Vec3(1, 0.98, 0.95));
  add_light(renderer, -camera.backward() + 0.8 * camera.up, 0.20, Vec3(1, 1, 1));
}

// Ambient, diffuse and mirrored light; the colour itself says which body or run it is.
void set_look(vtkProperty& property, stage::Look look) {
  property.SetInterpolationToPhong();
  property.SetAmbient(0.32);
  property.SetDiffuse(0.9);
  property.SetSpecular(0.10);
  property.SetSpecularPower(24);
  switch (look) {
    case stage::Look::plain:
      break;
    case stage::Look::metal:
      property.SetDiffuse(0.85);
      property.SetSpecular(0.42);
      property.SetSpecularPower(38);
      break;
    case stage::Look::rubber:
      property.SetSpecular(0.04);
      property.SetSpecularPower(8);
      break;
    case stage::Look::cloth:
      property.SetAmbient(0.36);
      property.SetSpecular(0);
      break;
    case stage::Look::glass:
      property.SetOpacity(0.45);
      property.SetSpecular(0.9);
      property.SetSpecularPower(90);
      break;
  }
}

vtkSmartPointer<vtkActor> make_actor(vtkPolyData* data, stage::Look look = stage::Look::plain) {
  vtkNew<vtkPolyDataMapper> mapper;
  mapper->SetInputData(data);
  mapper->SetColorModeToDirectScalars();
  auto actor = vtkSmartPointer<vtkActor>::New();
  actor->SetMapper(mapper);
  set_look(*actor->GetProperty(), look);
  return actor;
}

vtkSmartPointer<vtkTexture> make_texture(const Image& image) {
  vtkNew<vtkImageData> data;
  data->SetDimensions(image.width, image.height, 1);
  data->AllocateScalars(VTK_UNSIGNED_CHAR, 3);
  std::memcpy(data->GetScalarPointer(), image.rgb.data(), image.rgb.size());
  auto texture = vtkSmartPointer<vtkTexture>::New();
  texture->SetInputData(data);
  texture->InterpolateOn();
  texture->MipmapOn();
  texture->RepeatOff();
  texture->SetColorModeToDirectScalars();
  return texture;
}

vtkSmartPointer<vtkActor> make_ground(const Rectangle& shown, const Image& picture) {
  const Vec3 corner = shown.centre - shown.half_u * shown.axis_u - shown.half_v * shown.axis_v;
  const Vec3 along_u = corner + 2 * shown.half_u * shown.axis_u,
             along_v = corner + 2 * shown.half_v * shown.axis_v;
  vtkNew<vtkPlaneSource> plane;
  plane->SetOrigin(corner.x(), corner.y(), corner.z());
  plane->SetPoint1(along_u.x(), along_u.y(), along_u.z());
  plane->SetPoint2(along_v.x(), along_v.y(), along_v.z());
  plane->Update();
  vtkNew<vtkPolyDataMapper> mapper;
  mapper->SetInputData(plane->GetOutput());
  auto actor = vtkSmartPointer<vtkActor>::New();
  actor->SetMapper(mapper);
  actor->SetTexture(make_texture(picture));
  actor->GetProperty()->SetAmbient(1);
  actor->GetProperty()->SetDiffuse(0);
  return actor;
}

// Typical distance between points that fill their bounding box.
double spacing(const Geometry& geometry) {
  Box box;
  for (Eigen::Index i = 0; i < geometry.points.rows(); ++i) box.include(geometry.points.row(i).transpose());
  if (box.empty()) return 0;
  const Vec3 size = (box.high - box.low).array() + 1e-3 * box.diagonal();
  return std::cbrt(size.prod() / static_cast<double>(std::max<Eigen::Index>(1, geometry.points.rows())));
}

std::vector<stage::Look> looks_of_cells(const Geometry& shown, const std::vector<stage::Look>& looks) {
  const std::vector<int> bodies = stage::body_of_points(shown);
  std::vector<stage::Look> found;
  for (std::size_t cell = 0; cell < cell_count(shown); ++cell) {
    const auto body = static_cast<std::size_t>(
        std::max(0, bodies[static_cast<std::size_t>(stage::cell_points(shown, cell)[0])]));
    found.push_back(body < looks.size() ? looks[body] : stage::Look::plain);
  }
  return found;
}

// VTK keeps what lies along a clipping plane's normal.
void cut_open(vtkActor& actor, const CutSettings& cut) {
  vtkNew<vtkPlane> plane;
  plane->SetOrigin(cut.point.x(), cut.point.y(), cut.point.z());
  plane->SetNormal(-cut.normal.x(), -cut.normal.y(), -cut.normal.z());
  actor.GetMapper()->AddClippingPlane(plane);
}

// Obstacles that stand, and those that fly or are moved.
std::pair<Geometry, Geometry> by_motion(const Geometry& obstacles, const std::vector<int>& moving) {
  std::vector<bool> moves;
  for (const double own : obstacles.arrays[0].values)
    moves.push_back(std::find(moving.begin(), moving.end(), static_cast<int>(own)) != moving.end());
  std::vector<bool> stands = moves;
  stands.flip();
  return {stage::kept_cells(obstacles, stands), stage::kept_cells(obstacles, moves)};
}

}  // namespace

class TileRenderer::Implementation {
 public:
  Implementation(int width, int height, int samples)
      : m_height(height * samples),
        m_samples(samples),
        m_texture_size(std::clamp(width * samples * 5 / 4, 256, 2048)) {
    m_window->SetOffScreenRendering(1);
    m_window->SetMultiSamples(0);
    m_window->SetSize(width * samples, height * samples);
    m_window->AddRenderer(m_renderer);
    m_renderer->SetBackground(k_background[0] / 255.0, k_background[1] / 255.0, k_background[2] / 255.0);
    m_renderer->AutomaticLightCreationOff();
    m_occlusion->SetDelegatePass(m_steps);
    m_occlusion->SetKernelSize(28);
    m_occlusion->BlurOn();
    m_smooth->SetDelegatePass(m_occlusion);
    if (samples == 1)
      m_renderer->SetPass(m_smooth);  // edges are smoothed in the picture
    else
      m_renderer->SetPass(m_occlusion);
  }

  Image render(const Geometry& shown, const Geometry* obstacles, const Camera& camera,
               const TileStyle& style) {
    m_renderer->RemoveAllViewProps();
    add_lights(*m_renderer, camera);
    place_camera(camera);
    add_shown(shown, camera, style);
    if (obstacles) add_obstacles(shown, *obstacles, camera, style);
    if (style.balls && cell_count(*style.balls) > 0)
      m_renderer->AddActor(make_actor(drawable(*style.balls, k_handle)));
    const double size = std::max(1e-9, style.subject.diagonal());
    m_occlusion->SetRadius(0.07 * size);
    m_occlusion->SetBias(0.004 * size);
    m_renderer->ResetCameraClippingRange();
    m_window->Render();
    Image image = reduce(picture(), m_samples);
    if (style.rest_outline) draw_rest_outline(image, shown, camera);
    return image;
  }

 private:
  void place_camera(const Camera& camera) {
    vtkCamera* active = m_renderer->GetActiveCamera();
    active->SetPosition(camera.position.x(), camera.position.y(), camera.position.z());
    active->SetFocalPoint(camera.target.x(), camera.target.y(), camera.target.z());
    active->SetViewUp(camera.up.x(), camera.up.y(), camera.up.z());
    active->SetViewAngle(camera.view_angle * 180 / M_PI);
  }

  // One actor for each look that the bodies have.
  void add_shown(const Geometry& shown, const Camera& camera, const TileStyle& style) {
    if (cell_count(shown) == 0) return;
    const std::vector<stage::Look> looks = looks_of_cells(shown, style.looks);
    const std::set<stage::Look> kinds(looks.begin(), looks.end());
    for (const stage::Look look : kinds) {
      if (kinds.size() == 1) {
        add_actor(shown, look, camera, style);
        continue;
      }
      std::vector<bool> is_kept;
      for (const stage::Look own : looks) is_kept.push_back(own == look);
      add_actor(stage::kept_cells(shown, is_kept), look, camera, style);
    }
  }

  void add_actor(const Geometry& shown, stage::Look look, const Camera& camera, const TileStyle& style) {
    auto actor = make_actor(drawable(shown, style.scale, style.bodies), look);
    vtkProperty* property = actor->GetProperty();
    if (shown.kind == CellKind::points) {
      const double distance = (camera.position - camera.target).norm();
      const double pixels = m_height / (2 * distance * std::tan(camera.view_angle / 2));
      property->SetPointSize(static_cast<float>(std::clamp(0.8 * spacing(shown) * pixels, 3.0, 60.0)));
      property->RenderPointsAsSpheresOn();
      property->SetOpacity(1);
    } else if (shown.kind == CellKind::lines) {
      property->SetLineWidth(1.5F * static_cast<float>(m_samples));
      property->SetLighting(false);
    } else if (style.lines == Lines::wireframe) {
      property->SetRepresentationToWireframe();
      property->SetLineWidth(0.7F * static_cast<float>(m_samples));
      property->SetLighting(false);
    } else if (style.lines == Lines::edges || shown.kind == CellKind::tets ||
               shown.kind == CellKind::hexahedra) {
      property->EdgeVisibilityOn();
      property->SetEdgeColor(0.12, 0.14, 0.18);
      property->SetLineWidth(0.5F * static_cast<float>(m_samples));
    }
    if (style.cut) cut_open(*actor, *style.cut);
    m_renderer->AddActor(actor);
  }

  void add_obstacles(const Geometry& shown, const Geometry& obstacles, const Camera& camera,
                     const TileStyle& style) {
    const ObstacleParts parts = split_obstacles(obstacles);
    const auto [standing, moving] = by_motion(parts.rest, style.moving);
    if (cell_count(standing) > 0) m_renderer->AddActor(make_actor(drawable(standing, k_obstacle)));
    if (cell_count(moving) > 0)
      m_renderer->AddActor(make_actor(drawable(moving, k_projectile), stage::Look::metal));
    for (const Rectangle& whole : parts.rectangles) {
      const Rectangle front = crop(whole, style.subject);
      // A wall between the camera and the bodies would hide them.
      if (front.normal().dot(camera.position - front.centre) <= 0) continue;
      const Image texture = ground_texture(whole, front, {&shown, &parts.rest}, key_direction(camera),
                                           style.ground_square, m_texture_size);
      m_renderer->AddActor(make_ground(front, texture));
    }
  }

  Image picture() {
    const int width = m_window->GetSize()[0], height = m_window->GetSize()[1];
    vtkNew<vtkUnsignedCharArray> pixels;
    m_window->GetPixelData(0, 0, width - 1, height - 1, 0, pixels);
    Image image(width, height);
    const std::size_t row = 3 * static_cast<std::size_t>(width);
    for (int y = 0; y < height; ++y) {
      std::memcpy(image.pixel(0, y), pixels->GetPointer(static_cast<vtkIdType>(row) * (height - 1 - y)), row);
    }
    return image;
  }

  int m_height, m_samples;
  int m_texture_size;  // of the ground, about as fine as the picture
  vtkNew<vtkRenderWindow> m_window;
  vtkNew<vtkOpenGLRenderer> m_renderer;
  vtkNew<vtkRenderStepsPass> m_steps;
  vtkNew<vtkSSAOPass> m_occlusion;
  vtkNew<vtkOpenGLFXAAPass> m_smooth;
};

TileRenderer::TileRenderer(int width, int height, int samples)
    : m_implementation(std::make_unique<Implementation>(width, height, samples)) {}

TileRenderer::~TileRenderer() = default;

Image TileRenderer::render(const Geometry& shown, const Geometry* obstacles, const Camera& camera,
                           const TileStyle& style) {
  return m_implementation->render(shown, obstacles, camera, style);
}

}  // namespace exemplar::render
