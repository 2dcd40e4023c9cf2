// The 3D part of report.html: every run in its own canvas, one camera and one time for all. One WebGL context
// draws all views in turn and copies them to the canvases (browsers allow only a few contexts a page).
import {
  AmbientLight, BufferAttribute, BufferGeometry, Color, DirectionalLight, DoubleSide, Group, HemisphereLight, Mesh,
  MeshStandardMaterial, PCFSoftShadowMap, PerspectiveCamera, Plane, Scene, SRGBColorSpace, Vector3, WebGLRenderer,
} from 'three';

// ---- data: see compare/report/export.h
async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A run's surface or obstacles over time.
class Layer {
  static async load(id, description) {
    const layer = new Layer();
    const bytes = kind => document.getElementById(`${id}-${kind}`).textContent.trim();
    const [positions, indices] = await Promise.all([inflate(bytes('positions')), inflate(bytes('indices'))]);
    layer.id = id;
    layer.names = description.fields || [];
    layer.loaded = new Map();
    layer.low = description.low;
    layer.step = description.high.map((high, k) => (high - description.low[k]) / 65535);
    layer.decode(description.segments, positions, new Uint32Array(indices.buffer));
    return layer;
  }

  decode(segments, bytes, indices) {
    const half = bytes.length / 2;
    this.segments = [];
    this.frames = [];
    let at = 0, first = 0;
    for (const segment of segments) {
      const made = {indices: indices.subarray(first, first + 3 * segment.triangles), points: segment.points};
      first += 3 * segment.triangles;
      this.segments.push(made);
      let before = new Uint16Array(3 * segment.points);
      for (let f = 0; f < segment.frames; ++f) {
        const values = new Uint16Array(before.length);
        for (let i = 0; i < values.length; ++i, ++at) values[i] = before[i] + (bytes[at] | bytes[half + at] << 8);
        this.frames.push({segment: made, values});
        before = values;
      }
    }
  }

  // Makes the field's bytes ready; false where this surface lacks it.
  async loadField(name) {
    const number = this.names.indexOf(name);
    if (number < 0) return false;
    if (!this.loaded.has(name)) {
      const bytes = await inflate(document.getElementById(`${this.id}-field-${number}`).textContent.trim());
      let at = 0, before = null;
      this.loaded.set(name, this.frames.map((frame, f) => {
        const values = new Uint8Array(frame.segment.points), first = !f || this.frames[f - 1].segment !== frame.segment;
        for (let i = 0; i < values.length; ++i, ++at) values[i] = (first ? 0 : before[i]) + bytes[at];
        return before = values;
      }));
    }
    return true;
  }

  position(frame, i, target, offset) {
    const values = this.frames[frame].values;
    for (let k = 0; k < 3; ++k) target[offset + k] = this.low[k] + values[3 * i + k] * this.step[k];
  }
}

// Corners that meet at less than 40° share a normal; sharper edges stay sharp.
function creased(layer, frame) {
  const {segment} = layer.frames[frame];
  if (segment.render) return segment.render;
  const count = segment.indices.length / 3;
  const normals = faceNormals(layer, frame, segment.indices);
  const groups = new Map();
  const corner = new Uint32Array(segment.indices.length), source = [];
  for (let c = 0; c < segment.indices.length; ++c) {
    const vertex = segment.indices[c], t = Math.floor(c / 3);
    const n = [normals[3 * t], normals[3 * t + 1], normals[3 * t + 2]];
    const list = groups.get(vertex) || [];
    let group = list.find(g => g.n[0] * n[0] + g.n[1] * n[1] + g.n[2] * n[2] > 0.77);
    if (!group) {
      group = {n, id: source.length};
      source.push(vertex);
      list.push(group);
      groups.set(vertex, list);
    }
    corner[c] = group.id;
  }
  segment.render = {corner, source: Uint32Array.from(source), count};
  return segment.render;
}

function faceNormals(layer, frame, indices) {
  const normals = new Float32Array(indices.length), p = new Float64Array(9);
  for (let t = 0; t < indices.length; t += 3) {
    for (let k = 0; k < 3; ++k) layer.position(frame, indices[t + k], p, 3 * k);
    const ax = p[3] - p[0], ay = p[4] - p[1], az = p[5] - p[2], bx = p[6] - p[0], by = p[7] - p[1], bz = p[8] - p[2];
    const x = ay * bz - az * by, y = az * bx - ax * bz, z = ax * by - ay * bx, size = Math.hypot(x, y, z) || 1;
    normals[t] = x / size; normals[t + 1] = y / size; normals[t + 2] = z / size;
  }
  return normals;
}

const viridis = [[68, 1, 84], [72, 40, 120], [62, 73, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37]]
  .map(c => new Color().setRGB(c[0] / 255, c[1] / 255, c[2] / 255, SRGBColorSpace));
function viridisColour(unit, target) {
  const at = Math.max(0, Math.min(1, unit)) * (viridis.length - 1), i = Math.min(viridis.length - 2, Math.floor(at));
  return target.lerpColors(viridis[i], viridis[i + 1], at - i);
}

// A layer as something to draw.
class LayerMesh {
  constructor(layer, colour, obstacle) {
    this.layer = layer;
    this.material = new MeshStandardMaterial({color: colour, roughness: obstacle ? 0.95 : 0.55, metalness: 0, side: DoubleSide});
    this.mesh = new Mesh(new BufferGeometry(), this.material);
    this.mesh.castShadow = true;
    this.mesh.receiveShadow = true;
    this.mesh.frustumCulled = false;
    this.plain = colour;
  }

  // A grey shadow of itself, through which the others are seen.
  fade() {
    Object.assign(this.material, {transparent: true, opacity: 0.3, depthWrite: false, roughness: 1});
    this.mesh.castShadow = this.mesh.receiveShadow = false;
    this.mesh.renderOrder = 1;
    this.mesh.visible = false;
    return this;
  }

  show(frame, values) {
    const shown = Math.min(frame, this.layer.frames.length - 1);
    if (shown < 0) return;
    const render = creased(this.layer, shown);
    if (this.render !== render) this.allocate(render);
    const geometry = this.mesh.geometry, positions = geometry.attributes.position.array;
    render.source.forEach((vertex, i) => this.layer.position(shown, vertex, positions, 3 * i));
    geometry.attributes.position.needsUpdate = true;
    geometry.computeVertexNormals();
    this.paint(render, values);
  }

  allocate(render) {
    this.render = render;
    this.mesh.geometry.dispose();
    const geometry = this.mesh.geometry = new BufferGeometry();
    geometry.setIndex(new BufferAttribute(render.corner, 1));
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(3 * render.source.length), 3));
    geometry.setAttribute('color', new BufferAttribute(new Float32Array(3 * render.source.length), 3));
  }

  // `values`: one in 0…1 a vertex, or nothing for the plain colour.
  paint(render, values) {
    if (this.material.vertexColors !== Boolean(values)) {
      this.material.vertexColors = Boolean(values);
      this.material.needsUpdate = true;
    }
    this.material.color.set(values ? '#ffffff' : this.plain);
    if (!values) return;
    const colour = new Color(), array = this.mesh.geometry.attributes.color;
    render.source.forEach((vertex, i) => {
      viridisColour(values[vertex], colour);
      array.setXYZ(i, colour.r, colour.g, colour.b);
    });
    array.needsUpdate = true;
  }
}

// ---- one camera for all views
class SharedCamera {
  // `start`: where the pictures' camera stands and how it goes along, or nothing.
  constructor(bounds, start, changed) {
    this.changed = changed;
    this.bounds = bounds;
    this.start = start;
    this.reset();
  }

  reset() {
    const {low, high} = this.bounds, start = this.start;
    this.target = start ? new Vector3(...start.target) : new Vector3(...low).add(new Vector3(...high)).multiplyScalar(0.5);
    this.radius = 0.5 * new Vector3(...high).distanceTo(new Vector3(...low)) || 1;
    const back = start ? new Vector3(...start.position).sub(this.target) : new Vector3(0.5, 0.42, 0.85);
    this.azimuth = Math.atan2(back.x, back.z);
    this.elevation = Math.max(-1.45, Math.min(1.5, Math.atan2(back.y, Math.hypot(back.x, back.z))));
    this.fov = start ? start.field_of_view : 30;
    this.distance = start ? back.length() : 0;  // 0: fitted to the first view's shape
    this.changed();
  }

  // How far the camera has gone along with what a run shows at a time.
  along(run, time) {
    const path = this.start && this.start.paths[run], by = new Vector3();
    if (!path) return by;
    const times = this.start.times, next = times.findIndex(t => t >= time);
    if (next <= 0) return by.set(...path[next < 0 ? path.length - 1 : 0]);
    const share = (time - times[next - 1]) / (times[next] - times[next - 1]);
    return by.set(...path[next - 1]).lerp(new Vector3(...path[next]), share);
  }

  // The nearest distance from which the whole box is in view, with a small margin.
  fitted(aspect) {
    const [right, up, back] = this.axes(), tan = Math.tan(Math.PI * this.fov / 360) * 0.92;
    let distance = 0;
    for (let c = 0; c < 8; ++c) {
      const corner = new Vector3(...[0, 1, 2].map(k => (c >> k & 1 ? this.bounds.high : this.bounds.low)[k])).sub(this.target);
      const depth = corner.dot(back);
      distance = Math.max(distance, depth + Math.abs(corner.dot(up)) / tan, depth + Math.abs(corner.dot(right)) / (tan * aspect));
    }
    return distance;
  }

  axes() {
    const back = new Vector3(Math.sin(this.azimuth) * Math.cos(this.elevation), Math.sin(this.elevation), Math.cos(this.azimuth) * Math.cos(this.elevation));
    const right = new Vector3(Math.cos(this.azimuth), 0, -Math.sin(this.azimuth));
    return [right, new Vector3().crossVectors(back, right), back];
  }

  turn(dx, dy) {
    this.azimuth -= dx;
    this.elevation = Math.max(-1.45, Math.min(1.5, this.elevation + dy));
    this.changed();
  }
  zoom(factor) {
    this.distance = Math.max(0.02 * this.radius, Math.min(30 * this.radius, this.distance * factor));
    this.changed();
  }
  move(dx, dy) {
    const [right, up] = this.axes();
    this.target.addScaledVector(right, -dx * this.distance).addScaledVector(up, dy * this.distance);
    this.changed();
  }

  apply(camera, aspect, by) {
    if (!this.distance) this.distance = this.fitted(aspect);
    const target = this.target.clone().add(by);
    camera.aspect = aspect;
    camera.fov = this.fov;
    camera.near = this.distance / 200;
    camera.far = this.distance * 20 + 20 * this.radius;
    camera.position.copy(target).addScaledVector(this.axes()[2], this.distance);
    camera.lookAt(target);
    camera.updateProjectionMatrix();
  }

  listen(canvas) {
    const pointers = new Map();
    let spread = 0;
    canvas.addEventListener('contextmenu', event => event.preventDefault());
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, event);
      spread = 0;
    });
    for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, event => { pointers.delete(event.pointerId); spread = 0; });
    canvas.addEventListener('pointermove', event => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const dx = (event.clientX - before.clientX) / canvas.clientHeight, dy = (event.clientY - before.clientY) / canvas.clientHeight;
      pointers.set(event.pointerId, event);
      if (pointers.size === 2) {
        const [a, b] = [...pointers.values()], now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
        if (spread) this.zoom(spread / now);
        spread = now;
        this.move(dx * 0.25, dy * 0.25);
      } else if (event.buttons & 2 || event.shiftKey) {
        this.move(dx * 0.55, dy * 0.55);
      } else {
        this.turn(dx * 3, dy * 3);
      }
    });
    canvas.addEventListener('wheel', event => {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.0012));
    }, {passive: false});
    canvas.addEventListener('keydown', event => {
      const step = 0.08;
      const action = {ArrowLeft: () => this.turn(step, 0), ArrowRight: () => this.turn(-step, 0), ArrowUp: () => this.turn(0, step), ArrowDown: () => this.turn(0, -step),
        '+': () => this.zoom(0.9), '=': () => this.zoom(0.9), '-': () => this.zoom(1.1), 0: () => this.reset()}[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
  }
}

const dark = window.matchMedia('(prefers-color-scheme: dark)');

// ---- a run's scene
class RunScene {
  constructor(run, bounds) {
    this.run = run;
    this.scene = new Scene();
    this.scene.background = new Color(dark.matches ? '#20252b' : '#f6f7f9');
    this.group = new Group();
    this.scene.add(this.group, new HemisphereLight('#ffffff', '#c9ccd2', 1.5), new AmbientLight('#ffffff', 0.35), sun(bounds));
  }

  async load(index, layers) {
    this.surface = await Layer.load(`layer-${index}-surface`, layers.surface);
    this.obstacles = layers.obstacles.segments.length ? await Layer.load(`layer-${index}-obstacles`, layers.obstacles) : null;
    this.meshes = [new LayerMesh(this.surface, this.run.colour, false)];
    if (this.obstacles) this.meshes.push(new LayerMesh(this.obstacles, '#aeb3ba', true));
    this.group.add(...this.meshes.map(item => item.mesh));
    return this;
  }

  // The reference's surface in the same place.
  addGhost(reference) {
    if (!reference || reference === this) return;
    this.ghost = new LayerMesh(reference.surface, '#7d8590', true).fade();
    this.group.add(this.ghost.mesh);
  }

  cutOpen(cut) {
    const normal = new Vector3(...cut.normal).normalize().negate();
    this.meshes[0].material.clippingPlanes = [new Plane().setFromNormalAndCoplanarPoint(normal, new Vector3(...cut.point))];
  }

  show(frame, values) {
    this.meshes[0].show(frame, values);
    if (this.meshes[1]) this.meshes[1].show(frame);
    if (this.ghost && this.ghost.mesh.visible) this.ghost.show(frame);
  }

  // Which of its parts are drawn: {obstacles, ghost, mesh}.
  choose(parts) {
    if (this.meshes[1]) this.meshes[1].mesh.visible = parts.obstacles;
    if (this.ghost) this.ghost.mesh.visible = parts.ghost;
    this.meshes[0].material.wireframe = parts.mesh;
  }
}

function sun(bounds) {
  const light = new DirectionalLight('#ffffff', 2.1);
  const low = new Vector3(...bounds.low), high = new Vector3(...bounds.high);
  const centre = low.clone().add(high).multiplyScalar(0.5), radius = 0.5 * low.distanceTo(high) || 1;
  light.position.copy(centre).add(new Vector3(0.35, 1, 0.45).normalize().multiplyScalar(4 * radius));
  light.target.position.copy(centre);
  light.target.updateMatrixWorld();
  light.castShadow = true;
  light.shadow.mapSize.set(1024, 1024);
  Object.assign(light.shadow.camera, {left: -1.3 * radius, right: 1.3 * radius, top: 1.3 * radius, bottom: -1.3 * radius, near: radius, far: 8 * radius});
  light.shadow.radius = 4;
  light.shadow.normalBias = 0.01 * radius;
  light.shadow.bias = -0.0005;
  return light;
}

function onScreen(canvas) {
  const box = canvas.getBoundingClientRect();
  return box.bottom > -200 && box.top < window.innerHeight + 200;
}

// ---- everything together
class Viewer {
  constructor(data, scenes, canvases) {
    this.data = data;
    this.scenes = scenes;
    this.frame = 0;
    this.mode = 'method';
    this.low = this.high = 0;
    this.range = [0, 1];
    this.renderer = new WebGLRenderer({antialias: true, preserveDrawingBuffer: true});
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.camera = new PerspectiveCamera();
    this.renderer.localClippingEnabled = true;
    this.shared = new SharedCamera(data.bounds, data.camera, () => this.request());
    for (const scene of scenes.values()) {
      scene.addGhost(scenes.get(scene.run.reference_index));
      if (data.camera && data.camera.cut) scene.cutOpen(data.camera.cut);
    }
    this.views = [...canvases].map(canvas => ({canvas, scene: scenes.get(Number(canvas.dataset.view)), visible: onScreen(canvas)}));
    for (const view of this.views) this.shared.listen(view.canvas);
    new ResizeObserver(() => this.request()).observe(this.views[0].canvas);
    this.watchVisibility();
    dark.addEventListener('change', () => {
      for (const scene of this.scenes.values()) scene.scene.background.set(dark.matches ? '#20252b' : '#f6f7f9');
      this.request();
    });
  }

  // Only what is on the screen is drawn.
  watchVisibility() {
    const observer = new IntersectionObserver(entries => {
      for (const entry of entries) this.views.find(view => view.canvas === entry.target).visible = entry.isIntersecting;
      this.request();
    }, {rootMargin: '200px'});
    for (const view of this.views) observer.observe(view.canvas);
    window.addEventListener('beforeprint', () => {
      for (const view of this.views) view.visible = true;
      this.draw();
    });
  }

  request() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.draw(); });
  }

  setFrame(frame) { this.frame = frame; this.request(); }
  choose(parts) {
    for (const scene of this.scenes.values()) scene.choose(parts);
    this.request();
  }
  resetCamera() { this.shared.reset(); }

  // Returns the ends of the colour scale: of the field over all runs, or of the distances at the last frame, m.
  async setColour(mode) {
    const scale = this.data.fields.find(field => 'field:' + field.name === mode);
    if (scale) await Promise.all([...this.scenes.values()].map(scene => scene.surface.loadField(scale.name)));
    this.mode = mode;
    this.field = scale;
    this.low = scale ? scale.low : 0;
    this.high = scale ? scale.high : 0;
    if (!scale && mode !== 'method') {
      for (const scene of this.scenes.values()) {
        const values = this.distances(scene, this.data.times.length - 1);
        if (values) for (const value of values) this.high = Math.max(this.high, value);
      }
    }
    this.setRange(0, 1);
    return [this.low, this.high];
  }

  // The part of the scale that the colours span, as shares of it.
  setRange(from, to) {
    this.range = [from, to];
    this.request();
  }

  // Metres a vertex, or nothing where points cannot be matched.
  distances(scene, frame) {
    const own = scene.surface, at = Math.min(frame, own.frames.length - 1);
    const other = this.mode === 'moved' ? own : (this.scenes.get(scene.run.reference_index) || {}).surface;
    if (!other) return null;
    const there = this.mode === 'moved' ? 0 : Math.min(frame, other.frames.length - 1);
    const count = own.frames[at].segment.points;
    if (other.frames[there].segment.points !== count) return null;
    const values = new Float32Array(count), p = new Float64Array(3), q = new Float64Array(3);
    for (let i = 0; i < count; ++i) {
      own.position(at, i, p, 0);
      other.position(there, i, q, 0);
      values[i] = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
    }
    return values;
  }

  // 0…1 a vertex on the colour scale, or nothing for a run that has no such values.
  values(scene, frame) {
    if (this.mode === 'method') return null;
    const units = this.field ? this.fieldUnits(scene, frame) : this.distanceUnits(scene, frame);
    const [from, to] = this.range, span = Math.max(to - from, 1e-9);
    return units && units.map(unit => (unit - from) / span);
  }
  fieldUnits(scene, frame) {
    const frames = scene.surface.loaded.get(this.field.name);
    return frames && Float32Array.from(frames[Math.min(frame, frames.length - 1)], byte => byte / 255);
  }
  distanceUnits(scene, frame) {
    const values = this.distances(scene, frame);
    return values && values.map(value => value / (this.high || 1));
  }

  draw() {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    for (const view of this.views) {
      if (!view.visible) continue;
      const width = Math.round(view.canvas.clientWidth * ratio), height = Math.round(view.canvas.clientHeight * ratio);
      if (!width || !height) continue;
      view.scene.show(this.frame, this.values(view.scene, this.frame));
      this.render(view.scene, view.canvas, width, height, this.shared, this.frame);
    }
  }

  render(scene, canvas, width, height, shared, frame) {
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    const size = this.renderer.domElement;
    if (size.width !== width || size.height !== height) this.renderer.setSize(width, height, false);
    shared.apply(this.camera, width / height, shared.along(this.data.runs.indexOf(scene.run), this.data.times[frame]));
    this.renderer.render(scene.scene, this.camera);
    canvas.getContext('2d').drawImage(this.renderer.domElement, 0, 0, width, height, 0, 0, width, height);
  }

  // What a view shows now, as a PNG; drawn afresh at twice the size on screen.
  png(index) {
    const scene = this.scenes.get(index), view = this.views.find(item => item.scene === scene), canvas = document.createElement('canvas');
    scene.show(this.frame, this.values(scene, this.frame));
    this.render(scene, canvas, 2 * view.canvas.clientWidth, 2 * view.canvas.clientHeight, this.shared, this.frame);
    this.request();
    return new Promise(resolve => canvas.toBlob(resolve, 'image/png'));
  }

  // A still picture of one run at one time, with the initial camera.
  picture(canvas, index, frame) {
    const scene = this.scenes.get(index);
    if (!scene) return;
    scene.show(frame, null);
    this.render(scene, canvas, canvas.width, canvas.height, new SharedCamera(this.data.bounds, this.data.camera, () => {}), frame);
    this.request();
  }
}

window.ExemplarViewer = {
  async start(data, canvases) {
    const scenes = new Map();
    await Promise.all(data.runs.map(async (run, index) => {
      if (run.frames > 0) scenes.set(index, await new RunScene(run, data.bounds).load(index, run.layers));
    }));
    const viewer = new Viewer(data, scenes, canvases);
    viewer.draw();
    return viewer;
  },
};
