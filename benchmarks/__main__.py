"""Run the benchmarks and keep their figures.

python -m benchmarks                       all of them, into benchmarks/results/
python -m benchmarks networks --only resnet18 encoder
python -m benchmarks recurrent --only charrnn
python -m benchmarks startup
python -m benchmarks ablation              what each pass is worth: a table, a plot and a page
"""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path

import llvmlite.binding as llvm

from benchmarks import ablation, networks, recurrent, startup

RESULTS = Path(__file__).parent / "results"
SUITES = {
    "networks": networks.measure,
    "recurrent": recurrent.measure,
    "startup": startup.measure,
    "ablation": ablation.measure,
}


def machine() -> dict[str, object]:
    """What the figures were taken on, by features: names of virtual machines' processors say little."""
    features = llvm.get_host_cpu_features()
    wide = [name for name in ("avx2", "fma", "avx512f", "avx512vnni", "amx-bf16") if features.get(name)]
    return {"system": platform.system(), "machine": platform.machine(), "features": wide}


def main() -> None:
    parser = argparse.ArgumentParser("benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("suite", nargs="*", choices=[[], *SUITES], help="default: all")
    parser.add_argument("--only", nargs="*", default=None, help="names of models (default: all)")
    parser.add_argument("--seconds", type=float, default=8.0, help="for each model and thread count (default: 8)")
    parser.add_argument("--no-save", action="store_true", help="only print")
    options = parser.parse_args()
    for name in options.suite or SUITES:
        figures = SUITES[name](options)
        if not options.no_save:
            RESULTS.mkdir(exist_ok=True)
            path = RESULTS / f"{name}.json"
            path.write_text(json.dumps({"machine": machine(), "figures": figures}, indent=1) + "\n")
            print(f"kept in {path}")


if __name__ == "__main__":
    main()
