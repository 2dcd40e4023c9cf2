#!/usr/bin/env python3
"""Runs are interrupted, killed, cut short and starved of disk; afterwards --resume must give the same bytes.

  tests/faults/faults.py PROGRAM [kills|errors|power|all] [--methods a,b] [--kills 20] [--shim io_errors.so] [--seed 1]

kills: kill -9 at random moments, then --resume, until the run is done.
errors: each single call that writes fails once (tests/faults/io_errors.c): exit code 3 or 0, never a crash, no frame that
        was finished is lost, --resume ends the run.
power: the newest files are cut short, as a power failure leaves them; --resume makes them again.
Each ends with the same frames, collections, manifest and metrics as an undisturbed run. Exit code 1 otherwise.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SCENE = {"time": {"duration": 1.0, "fps": 24, "steps_per_frame": 2},
         "bodies": [{"name": "box", "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [3, 3, 3]}},
                     "volume": {"grid": [3, 3, 3]}, "material": {"young": 1e6}, "position": [0, 0.3, 0],
                     "rotation": {"axis": "z", "angle": 20},
                     "skeleton": {"points": [[-0.08, 0, 0], [0, 0, 0], [0.08, 0, 0]], "bones": [{"from": 0, "to": 1}, {"from": 1, "to": 2}]}}],
         "obstacles": [{"name": "floor", "plane": {}},
                       {"name": "ball", "sphere": {"radius": 0.05}, "mass": 0.5, "position": [0, 0.6, 0]}],
         "methods": {"peridynamics": {"particles": 300}}}
SHEET = {"time": SCENE["time"],
         "bodies": [{"name": "sheet", "kind": "sheet", "thickness": 0.002, "position": [0, 0.3, 0],
                     "surface": {"sheet": {"length": 0.4, "width": 0.4, "resolution_x": 6, "resolution_z": 6}},
                     "material": {"young": 1e6}}],
         "obstacles": [{"name": "ball", "sphere": {"radius": 0.1}, "position": [0, 0.1, 0]}]}


def results(run):
    """Everything but what it cost."""
    files = {}
    for path in sorted(run.rglob("*")):
        name = str(path.relative_to(run))
        if path.is_file() and name not in ("run.json", "timings.csv", "checksums.csv", ".lock") and not name.startswith("checkpoints"):
            files[name] = path.read_bytes()
    return files


class Faults:
    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.problems = arguments, folder, []
        self.random = random.Random(arguments.seed)

    def call(self, method, output, *more):
        return [self.arguments.program, "-q", "run", str(self.scene(method)), "--method", method, "--threads", "1",
                "-o", str(output), *more]

    def scene(self, method):
        path = self.folder / f"{method}.json"
        path.write_text(json.dumps(SHEET if method == "shell" else SCENE))
        return path

    def run(self, call, **environment):
        done = subprocess.run(call, capture_output=True, text=True, env={**os.environ, **environment})
        return done.returncode, done.stderr

    def problem(self, text):
        print("PROBLEM:", text, flush=True)
        self.problems.append(text)

    def undisturbed(self, method):
        whole = self.folder / f"{method}-whole"
        if not whole.exists():
            start = time.time()
            code, errors = self.run(self.call(method, whole))
            if code != 0:
                self.problem(f"{method}: the undisturbed run ended with {code}: {errors}")
            self.seconds = time.time() - start
        return results(whole)

    def compare(self, what, output, expected):
        found = results(output)
        if found != expected:
            odd = sorted(name for name in set(found) | set(expected) if found.get(name) != expected.get(name))
            self.problem(f"{what}: {len(odd)} files differ: {odd[:5]}")

    def kills(self, method):
        expected = self.undisturbed(method)
        output = self.folder / f"{method}-killed"
        killed = rounds = 0
        while killed < self.arguments.kills and rounds < 4 * self.arguments.kills:
            rounds += 1
            more = ["--resume"] if output.exists() else []
            process = subprocess.Popen(self.call(method, output, *more), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            try:
                process.wait(self.random.uniform(0.02, 1.1 * self.seconds))
                self.compare(f"{method}: after {killed} kills", output, expected)
                shutil.rmtree(output)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                killed += 1
        code, errors = self.run(self.call(method, output, "--resume"))
        if code != 0:
            self.problem(f"{method}: --resume after kills ended with {code}: {errors}")
        self.compare(f"{method}: after {killed} kills", output, expected)
        print(f"{method}: {killed} kills, {rounds} starts", flush=True)

    def errors(self, method):
        expected = self.undisturbed(method)
        output = self.folder / f"{method}-errors"
        counter = self.folder / "count"
        shim = {"LD_PRELOAD": self.arguments.shim, "FAULT_UNDER": f"{method}-errors"}
        shutil.rmtree(output, ignore_errors=True)
        self.run(self.call(method, output, "--frames", "6"), FAULT_COUNT=str(counter), **shim)
        calls = int(counter.read_text())
        step = max(1, calls // self.arguments.errors)
        tried = 0
        for at in range(1, calls + 1, step):
            shutil.rmtree(output, ignore_errors=True)
            code, errors = self.run(self.call(method, output, "--frames", "6"), FAULT_AT=str(at), **shim)
            tried += 1
            if code not in (0, 3):
                self.problem(f"{method}: error at call {at} of {calls}: exit code {code}: {errors}")
                continue
            frames = {n: b for n, b in results(output).items() if n.startswith("frames/")} if output.exists() else {}
            for name, data in frames.items():
                if not name.endswith(".tmp") and expected.get(name) != data:
                    self.problem(f"{method}: error at call {at}: {name} is not what it should be")
            code, errors = self.run(self.call(method, output, "--resume"))
            if code != 0:
                self.problem(f"{method}: error at call {at}: --resume ended with {code}: {errors}")
            else:
                self.compare(f"{method}: error at call {at} of {calls}", output, expected)
        print(f"{method}: {tried} of {calls} writing calls failed in turn", flush=True)

    def power(self, method):
        expected = self.undisturbed(method)
        output = self.folder / f"{method}-power"
        names = sorted(expected) + ["run.json", "timings.csv"]
        for name in names[::max(1, len(names) // self.arguments.errors)]:
            for share in (0.0, 0.5):
                shutil.rmtree(output, ignore_errors=True)
                shutil.copytree(self.folder / f"{method}-whole", output)
                record = json.loads((output / "run.json").read_text())
                (output / "run.json").write_text(json.dumps({**record, "status": "running"}))
                file = output / name
                file.write_bytes(file.read_bytes()[:int(share * file.stat().st_size)])
                code, errors = self.run(self.call(method, output, "--resume"))
                if code != 0:
                    self.problem(f"{method}: {name} cut to {share:.0%}: --resume ended with {code}: {errors}")
                else:
                    self.compare(f"{method}: {name} cut to {share:.0%}", output, expected)
        print(f"{method}: files cut short", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("what", nargs="?", default="all", choices=["kills", "errors", "power", "all"])
    parser.add_argument("--methods", default="")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--errors", type=int, default=10**9, help="at most about so many places of each kind")
    parser.add_argument("--shim", default="")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    listed = json.loads(subprocess.run([arguments.program, "list", "methods", "--json"], capture_output=True, text=True,
                                       check=True).stdout)
    methods = arguments.methods.split(",") if arguments.methods else [method["name"] for method in listed["methods"]]
    with tempfile.TemporaryDirectory(prefix="exemplar-faults-") as folder:
        faults = Faults(arguments, pathlib.Path(folder))
        for method in methods:
            for what in ("kills", "errors", "power"):
                if arguments.what in (what, "all") and (what != "errors" or arguments.shim):
                    getattr(faults, what)(method)
    print(f"{len(faults.problems)} problems")
    return 1 if faults.problems else 0


if __name__ == "__main__":
    sys.exit(main())
