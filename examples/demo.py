"""The main job, end to end: an ONNX ResNet-18 made from a seed, compiled, run, and compared with onnxruntime.

python examples/demo.py            (or: make demo)
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime
from onnx_models import build

import relay
from relay.testing.measuring.measure import interleaved, ratio
from relay.testing.measuring.peer_process import PeerProcess

FOLDER = Path("demo")
LARGEST_DIFFERENCE = 1e-4  # relative to the largest output


def shell(*words: str) -> None:
    """Run a command as a user would, and show it."""
    print(f"\n$ {' '.join(words)}", flush=True)
    subprocess.run(words, check=True)


def main() -> int:
    """Exit code 0 when the results agree."""
    FOLDER.mkdir(exist_ok=True)
    model, library = FOLDER / "resnet18.onnx", FOLDER / "resnet18.so"
    print(f"making {model} (224×224, seeded weights)")
    model.write_bytes(build("resnet18").SerializeToString())
    image = np.random.default_rng(0).standard_normal((1, 3, 224, 224), dtype=np.float32)
    np.save(FOLDER / "image.npy", image)
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    (name,) = (value.name for value in session.get_inputs())
    (expected,) = session.run(None, {name: image})

    shell("relay", "compile", str(model), "-o", str(library), "-O3", "--time")
    shell("relay", "run", str(library), "--input", f"{name}={FOLDER}/image.npy", "--output", f"{FOLDER}/output.npz")
    (result,) = np.load(FOLDER / "output.npz").values()
    difference = float(np.abs(result - expected).max() / np.abs(expected).max())
    print(f"\nlargest difference from onnxruntime: {difference:.1e} of the largest output")

    started = time.perf_counter()
    executable = relay.load(library)
    print(f"loading the library: {(time.perf_counter() - started) * 1e3:.0f} ms")
    for threads in (1, 2):
        relay.set_num_threads(threads)
        with PeerProcess("onnxruntime", model, {name: image}, threads) as peer:
            timings = interleaved({"relay": lambda: executable(image), "peer": peer}, seconds=8, rests=threads > 1)
        compared = ratio(timings["peer"], timings["relay"])
        print(
            f"{threads} thread{'s' if threads > 1 else ' '}: relay {timings['relay'].median_s * 1e3:6.2f} ms, "
            f"onnxruntime {timings['peer'].median_s * 1e3:6.2f} ms, "
            f"relay is {compared.median:.2f} times as fast (quartiles {compared.low:.2f} to {compared.high:.2f})"
        )
    return 0 if difference <= LARGEST_DIFFERENCE else 1


if __name__ == "__main__":
    sys.exit(main())
