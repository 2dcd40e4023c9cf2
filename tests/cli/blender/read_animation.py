"""Points of every frame as Blender shows them: blender -b --python read_animation.py -- FILE(.glb or .pc2) FRAMES FPS OUTPUT

Lines "frame x y z" with y up, vertex after vertex; obstacles are left out.
"""
import sys

import numpy

numpy.bool = bool  # Blender 3.4's importer uses a name that NumPy 1.24 has dropped
import bpy

path, frames, fps, output = sys.argv[sys.argv.index("--") + 1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = int(fps)
if path.endswith(".glb"):
    bpy.ops.import_scene.gltf(filepath=path)
else:
    bpy.ops.import_scene.obj(filepath=path + ".obj", split_mode="OFF")
    cache = next(o for o in scene.objects if o.type == "MESH").modifiers.new("cache", "MESH_CACHE")
    cache.cache_format = "PC2"
    cache.filepath = path
    cache.frame_start = 0
with open(output, "w") as out:
    for frame in range(int(frames)):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for item in scene.objects:
            if item.type != "MESH" or "obstacles" in item.name:
                continue
            shown = item.evaluated_get(graph)
            for vertex in shown.to_mesh().vertices:
                p = shown.matrix_world @ vertex.co
                out.write(f"{frame} {p.x:.9g} {p.z:.9g} {-p.y:.9g}\n")
