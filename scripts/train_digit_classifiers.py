"""Train the reward classifier and the judge: `python scripts/train_digit_classifiers.py`.

Takes about ten seconds; writes weights and what was done into assets/steering.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from models.steering import classifiers, digits
from models.torchrun import torch


def main() -> None:
    from safetensors.torch import save_file

    split = digits.load()
    plans = {
        "reward": (classifiers.softmax_regression, split.first_half, 3000, 0.5),
        "judge": (classifiers.judge_network, split.second_half, 1500, 0.05),
    }
    stored: dict[str, torch.Tensor] = {}
    about: dict[str, object] = {
        "command": "python scripts/train_digit_classifiers.py",
        "seed": 0,
    }
    for name, (make, half, steps, decay) in plans.items():
        *_, trained = classifiers.train_classifier(make, half, steps, decay, 0)
        stored |= {f"{name}.{k}": v.contiguous() for k, v in trained.state_dict().items()}
        about[name] = {
            "steps": steps,
            "decay": decay,
            "trained_on": len(half),
            "accuracy_held_out": round(classifiers.accuracy(trained, split.held_out), 4),
        }
    about["versions"] = {"torch": torch.__version__}
    save_file(stored, classifiers.WEIGHTS)
    classifiers.ABOUT.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    print(about)


if __name__ == "__main__":
    main()
