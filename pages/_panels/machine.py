"""What this machine can do, in one line; it says so while that is still being found out."""

from pathlib import Path

import streamlit as st

from pages._panels.text import plain
from profcore.jobs import JobRunner
from profcore.machine import Machine

LOOK_EVERY_S = 0.5
_DRIVER_FILES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
"""What the drivers of NVIDIA, of AMD and of Windows' Linux put there."""


def machine_line(runner: JobRunner) -> Machine | None:
    """Draw the line and return the machine; None while it is not known, or cannot be."""
    machine = runner.machine
    if machine is not None:
        _known(machine)
    elif runner.machine_problem:
        st.warning(f"{plain(runner.machine_problem)} Recorded examples can be opened all the same.")
    else:
        _wait(runner)
    return machine


def likely_has_gpu() -> bool:
    """Guess, until the machine is known, whether it has a GPU; only the page's order rests on it.

    Guessed from the files of the drivers: asking PyTorch takes seconds.
    """
    return any(Path(name).exists() for name in _DRIVER_FILES)


@st.fragment(run_every=LOOK_EVERY_S)
def _wait(runner: JobRunner) -> None:
    if runner.machine is not None or runner.machine_problem:
        st.rerun()
    st.caption("Looking at this machine ...")


def _known(machine: Machine) -> None:
    gpu = machine.gpu
    if gpu is None:
        st.markdown(
            ":material/info: There is no GPU here that PyTorch can use. Experiments run on the "
            "CPU; what a GPU does is shown by the recorded examples."
        )
    else:
        versions = f"PyTorch {machine.torch}"
        if machine.cuda:
            versions += f", CUDA {machine.cuda}"
        st.caption(f"This machine: {plain(gpu.name)} · {plain(versions)}")
    for note in machine.notes:
        st.caption(plain(note))
