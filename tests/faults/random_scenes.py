#!/usr/bin/env python3
"""Random valid scenes, each run with a random method: none may crash, hang, write NaN or infinity, or lose a body unsaid.

  tests/faults/random_scenes.py PROGRAM [--count 1000] [--seed 1] [--first 0] [--seconds 60] [--keep DIR] [--log FILE]
                                [--minutes M]

A run ends with 0 (then every number it wrote is finite, or empty, and no body is below a floor), with 2 and a reason (the
scene is refused), or with 3 and a reason; after --seconds of the processor it is late, and must have written a frame. A scene
that breaks this is kept with its number, which makes it again. With --log every scene is a line of FILE, and those that are
there already are passed over: parts can be run apart.
"""
import argparse
import csv
import json
import math
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import vtp

SOLIDS = [lambda r: {"box": {"size": [r.uniform(0.05, 1) for _ in range(3)], "resolution": [r.randint(1, 4) for _ in range(3)]}},
          lambda r: {"sphere": {"radius": r.uniform(0.05, 0.5), "resolution": r.randint(2, 5)}},
          lambda r: {"cylinder": {"radius": r.uniform(0.1, 0.4), "height": r.uniform(0.2, 1), "resolution": r.randint(8, 20)}},
          lambda r: {"torus": {"major_radius": 0.4, "minor_radius": r.uniform(0.12, 0.2), "resolution": r.randint(18, 26)}},
          lambda r: {"barrel": {"resolution": 24}}]
PRESETS = ["rubber", "aluminium", "glass", "wood", "steel"]


def vector(r, size):
    return [r.uniform(-size, size) for _ in range(3)]


def place(r, index, stacked):
    """Side by side, or above each other, so that they meet."""
    if stacked:
        return [r.uniform(-0.2, 0.2), 1.5 + 2.5 * index, r.uniform(-0.2, 0.2)]
    return [3.0 * index, r.uniform(1.2, 2.5), r.uniform(-0.2, 0.2)]


def body(r, index, method, stacked):
    made = {"name": f"body{index}", "position": place(r, index, stacked),
            "rotation": {"axis": [r.uniform(-1, 1), 1, r.uniform(-1, 1)], "angle": r.uniform(0, 360)},
            "velocity": vector(r, r.choice([0, 1, 10, 100])), "angular_velocity": vector(r, r.choice([0, 1, 20])),
            "material": {"density": 10 ** r.uniform(2, 4), "young": 10 ** r.uniform(4, 9), "poisson": r.uniform(0, 0.45),
                         "friction": r.uniform(0, 1)}}
    if r.random() < 0.3:
        made["material"]["yield_stress"] = 10 ** r.uniform(3, 7)
    if method == "shell" or r.random() < 0.1:
        made.update(kind="sheet", thickness=10 ** r.uniform(-3, -1.7),
                    surface={"sheet": {"length": r.uniform(0.2, 1), "width": r.uniform(0.2, 1),
                                       "resolution_x": r.randint(2, 8), "resolution_z": r.randint(2, 8)}})
    else:
        made["surface"] = r.choice(SOLIDS)(r)
        if "box" in made["surface"] and r.random() < 0.5:
            made["volume"] = {"grid": [r.randint(1, 4) for _ in range(3)]}
        if r.random() < 0.4:
            made["examples"] = [{"name": "bent", r.choice(["bend", "twist"]): {"axis": r.choice("xyz"), "angle": r.uniform(5, 40)}}]
    return made


def obstacle(r, index):
    shape = r.choice([{"plane": {}}, {"sphere": {"radius": r.uniform(0.1, 0.6)}},
                      {"box": {"size": [r.uniform(0.2, 2), r.uniform(0.1, 0.6), r.uniform(0.2, 2)]}},
                      {"capsule": {"radius": 0.2, "length": 1}}, {"cylinder": {"radius": 0.3, "height": 0.4}}])
    made = {"name": f"obstacle{index}", **shape, "position": [3.0 * index - 1.5 if "plane" not in shape else 0, -0.5, 0]}
    if "plane" not in shape and r.random() < 0.4:
        made.update(mass=10 ** r.uniform(-1, 2), velocity=vector(r, 5), position=[3.0 * index, 4 + index, 0])
    return made


def scene(r, method):
    stacked = r.random() < 0.4
    return {"time": {"duration": r.uniform(0.05, 0.3), "fps": r.choice([24, 30, 60]), "steps_per_frame": r.randint(1, 6)},
            "gravity": [0, r.choice([0, -9.81, -9.81, -100]), 0],
            "bodies": [body(r, i, method, stacked) for i in range(r.randint(1, 3))],
            "obstacles": [obstacle(r, i) for i in range(r.randint(0, 3))],
            "methods": {"peridynamics": {"particles": r.randint(50, 400)}}}


def odd_numbers(run):
    """The first number of metrics.csv or of a frame that is not finite; empty cells are unknowns."""
    with open(run / "metrics.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for title, cell in row.items():
                if cell and not math.isfinite(float(cell)):
                    return f"{title} is {cell} at frame {row['frame']}"
    for frame in sorted((run / "frames").iterdir()):
        for name, values in vtp.float_arrays(frame).items():
            if not all(map(math.isfinite, values)):
                return f"{name} of {frame.name} has a number that is not finite"
    return ""


def lost_body(run, made):
    """A body below an infinite floor that the record says nothing about: by the record's penetration, and by the points."""
    floors = [o["position"][1] for o in made["obstacles"] if "plane" in o]
    if not floors:
        return ""
    record = json.loads((run / "run.json").read_text())
    depth = record.get("worst_penetration") or 0
    last = max((run / "frames").glob("surface_*.vtp"))
    below = max(floors) - min(vtp.float_arrays(last)["Points"][1::3])
    if depth > 0.5:
        return f"penetration of {depth} m, and the run is called {record['status']}"
    if below > depth + 0.02:
        return f"{last.name} reaches {below} m below the floor, and the deepest penetration is called {depth}"
    return ""


def try_scene(arguments, number, folder):
    r = random.Random(f"{arguments.seed}-{number}")
    method = r.choice(arguments.methods)
    made = scene(r, method)
    (folder / "scene.json").write_text(json.dumps(made, indent=1))
    call = [arguments.program, "-q", "run", str(folder / "scene.json"), "--method", method, "-o", str(folder / "out"), "--threads", "1"]
    limit = math.ceil(arguments.seconds)
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=20 * limit,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)))
    except subprocess.TimeoutExpired:
        return method, "hangs", f"{20 * limit} s passed, {limit} of the processor did not"
    if done.returncode == -signal.SIGXCPU:
        table = folder / "out" / "metrics.csv"
        rows = len(table.read_text().splitlines()) if table.exists() else 0
        return method, "late", "" if rows > 1 else f"no frame within {arguments.seconds} s"
    if done.returncode == 0:
        return method, "done", odd_numbers(folder / "out") or lost_body(folder / "out", made)
    if done.returncode in (2, 3):
        kind = "refused" if done.returncode == 2 else "failed"
        return method, kind, "" if "error:" in done.stderr else f"exit code {done.returncode} without a reason"
    return method, "crashed", f"exit code {done.returncode}: {done.stderr[-400:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keep", default="")
    parser.add_argument("--log", default="")
    parser.add_argument("--minutes", type=float, default=math.inf)
    arguments = parser.parse_args()
    listed = subprocess.run([arguments.program, "list", "methods", "--json"], capture_output=True, text=True, check=True).stdout
    arguments.methods = [method["name"] for method in json.loads(listed)["methods"]]
    counts, problems, end = {}, 0, time.time() + 60 * arguments.minutes
    log = pathlib.Path(arguments.log) if arguments.log else None
    known = {int(line.split()[0]) for line in log.read_text().splitlines()} if log and log.exists() else set()
    for number in range(arguments.first, arguments.first + arguments.count):
        if number in known or time.time() > end:
            continue
        folder = pathlib.Path(tempfile.mkdtemp(prefix="exemplar-random-"))
        started = time.time()
        method, outcome, problem = try_scene(arguments, number, folder)
        counts[outcome] = counts.get(outcome, 0) + 1
        if log:
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"{number} {method} {outcome} {time.time() - started:.1f} s {json.dumps(problem)}\n")
        if problem:
            problems += 1
            print(f"PROBLEM: scene {number} ({method}): {problem}", flush=True)
            if arguments.keep:
                shutil.copytree(folder, pathlib.Path(arguments.keep) / str(number), dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{sum(counts.values())} scenes: {counts}; {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
