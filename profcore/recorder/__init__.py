"""Runs one experiment under torch.profiler. torch lives here and in the workloads, nowhere else.

Importing this imports torch and leaves CUDA untouched: a waiting child stays cold.
"""

from profcore.recorder.probe import check_recording, probe
from profcore.recorder.run import record
from profcore.recorder.sweep import record_sweep

__all__ = ["check_recording", "probe", "record", "record_sweep"]
