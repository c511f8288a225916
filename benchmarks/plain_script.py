"""What a person would write by hand: profile ten lines, print the table, write the trace.

The yardstick of `click_to_charts.py`. Usage: python benchmarks/plain_script.py OUT_FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

device = "cuda" if torch.cuda.is_available() else "cpu"
activities = [ProfilerActivity.CPU]
if device == "cuda":
    activities.append(ProfilerActivity.CUDA)
x, w, b = (torch.randn(64, 64, device=device, dtype=torch.bfloat16) for _ in range(3))
with profile(
    activities=activities, schedule=schedule(wait=1, warmup=3, active=5, repeat=1)
) as profiler:
    for _ in range(9):
        with record_function("matmul_add"):
            torch.add(torch.matmul(x, w), b)
        profiler.step()
print(profiler.key_averages().table(row_limit=20))
profiler.export_chrome_trace(str(Path(sys.argv[1]) / "trace.json"))
