#!/usr/bin/env python3
"""No method may need more memory the longer it runs: resident memory after 1000 and after 10 000 steps of a small scene.

  tests/faults/memory.py PROGRAM [--methods a,b] [--steps 10000] [--allowed 2]

Bodies are kept in motion by a plunger, so that nothing falls asleep. Memory is read from /proc beside the run, at the frame
that ends step 1000 and at the last one; run.json says the peak. Exit code 1 when a method grows by more than --allowed MB.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import faults

FRAMES = 100


def moving(steps):
    """A plunger that goes up and down for ever, for the body to be thrown by."""
    frames = range(0, FRAMES + 5)
    period = 1 / 24
    keys = [{"time": i * period, "position": [0, 0.02 * (i % 2) - 0.3, 0]} for i in frames]
    return {"name": "plunger", "box": {"size": [1, 0.2, 1]}, "keyframes": keys}


def scene(method, steps):
    made = json.loads(json.dumps(faults.SHEET if method == "shell" else faults.SCENE))
    made["time"] = {"duration": FRAMES / 24, "fps": 24, "steps_per_frame": steps // FRAMES}
    if method != "shell":
        made["obstacles"] = [moving(steps)]
    return made


def resident(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return None


def measure(program, method, steps, folder):
    """Rows of metrics.csv → medians of the resident memory (MB) seen while they were the last."""
    (folder / "scene.json").write_text(json.dumps(scene(method, steps)))
    out = folder / method
    process = subprocess.Popen([program, "-q", "run", str(folder / "scene.json"), "--method", method, "--threads", "1",
                                "-o", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    seen = {}
    while process.poll() is None:
        time.sleep(0.02)
        table = out / "metrics.csv"
        try:
            rows = table.read_bytes().count(b"\n") - 1 if table.exists() else 0
            memory = resident(process)
        except OSError:
            continue
        if memory:
            seen.setdefault(rows, []).append(memory)
    record = json.loads((out / "run.json").read_text())
    return process.returncode, process.stderr.read(), record, {rows: statistics.median(m) for rows, m in seen.items()}


def nearest(seen, low, high):
    return statistics.median([memory for rows, memory in seen.items() if low <= rows <= high] or [float("nan")])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--methods", default="")
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--allowed", type=float, default=2)
    arguments = parser.parse_args()
    listed = json.loads(subprocess.run([arguments.program, "list", "methods", "--json"], capture_output=True, text=True,
                                       check=True).stdout)
    methods = arguments.methods.split(",") if arguments.methods else [method["name"] for method in listed["methods"]]
    bad = []
    with tempfile.TemporaryDirectory(prefix="exemplar-memory-") as folder:
        for method in methods:
            code, errors, record, seen = measure(arguments.program, method, arguments.steps, pathlib.Path(folder))
            early, late = nearest(seen, FRAMES // 10, FRAMES // 10 + 5), nearest(seen, FRAMES - 5, FRAMES + 1)
            good = code == 0 and record["steps"] >= arguments.steps and late - early <= arguments.allowed
            print(f"{method}: {record['steps']} steps, {early:.1f} MB after a tenth, {late:.1f} MB at the end, "
                  f"peak {record.get('peak_memory_MB', 0):.1f} MB{'' if good else f': BAD (exit code {code}) {errors[-300:]}'}",
                  flush=True)
            bad += [] if good else [method]
    print(f"{len(methods) - len(bad)} of {len(methods)} methods do not grow")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
