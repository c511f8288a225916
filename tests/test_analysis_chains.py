"""The dispatch chain: from any row the whole ladder, with times worked out by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from profcore import library
from profcore.analysis import Analysis, chains, rungs
from profcore.trace import read
from profcore.trace.model import CPU_SIDE, GPU_WORK, KINDS
from tests import handmade
from tests.trace_bytes import annotation, kernel, launch, op, row, step


def article() -> Analysis:
    """Return step 2 [0, 100]: matmul_add [3, 97] with matmul [6, 46] > mm [8, 44] > launch [30, 38]
    of a GEMM [42, 45], and add [50, 74] > launch [60, 67] of a sum [72, 74]."""
    return handmade.analysis_of(
        step(2, 0, 100),
        annotation("matmul_add", 3, 94),
        op("aten::matmul", 6, 40),
        op("aten::mm", 8, 36),
        launch(30, 8, correlation=1, name="cuLaunchKernelEx"),
        kernel("nvjet_sm90_tst_64x8", 42, 3, correlation=1),
        op("aten::add", 50, 24),
        launch(60, 7, correlation=2),
        kernel("vectorized_elementwise_kernel", 72, 2, correlation=2),
        row("cudaDeviceSynchronize", 110, 5, cat="cuda_runtime"),
    )


def at(analysis: Analysis, name: str) -> int:
    names = [analysis.trace.name_of(row) for row in range(len(analysis.trace))]
    return names.index(name)


def names(chain: chains.Chain) -> list[str]:
    return [rung.name for rung in chain.rungs]


LADDER = [
    "ProfilerStep#2",
    "matmul_add",
    "aten::matmul",
    "aten::mm",
    "cuLaunchKernelEx",
    "nvjet_sm90_tst_64x8",
]


@pytest.mark.parametrize("name", LADDER[2:])
def test_every_rung_of_the_ladder_shows_the_same_ladder(name: str) -> None:
    analysis = article()
    assert names(chains.chain_of(analysis, at(analysis, name))) == LADDER


def test_times_stand_at_every_rung() -> None:
    analysis = article()
    chain = chains.chain_of(analysis, at(analysis, "nvjet_sm90_tst_64x8"))
    assert [rung.start_ns // 1000 for rung in chain.rungs] == [0, 3, 6, 8, 30, 42]
    assert [rung.duration_ns // 1000 for rung in chain.rungs] == [100, 94, 40, 36, 8, 3]
    # step 100 - 94; annotation 94 - 40 - 24; matmul 40 - 36; mm 36 - 8; the launch itself
    own = [None if rung.self_ns is None else rung.self_ns // 1000 for rung in chain.rungs]
    assert own == [6, 30, 4, 28, 8, None]
    # 42 - 30, from start to start
    assert [rung.delay_ns for rung in chain.rungs] == [None] * 5 + [12_000]
    assert chain.remarks == ()


def test_of_several_calls_the_longest_work_is_followed_and_all_are_named() -> None:
    analysis = article()
    chain = chains.chain_of(analysis, at(analysis, "ProfilerStep#2"))
    assert names(chain) == LADDER  # 3 us against 2
    assert chain.calls_count == 2
    calls = [analysis.trace.name_of(row) for row in chain.calls]
    assert calls == ["cuLaunchKernelEx", "cudaLaunchKernel"]
    assert chain.remarks[0].startswith("2 calls inside this row started GPU work")
    other = chains.chain_of(analysis, chain.calls[1])
    assert names(other)[2:] == ["aten::add", "cudaLaunchKernel", "vectorized_elementwise_kernel"]


def test_a_graph_launch_owns_many_kernels() -> None:
    analysis = handmade.analysis_of(*handmade.graph_rows())
    chain = chains.chain_of(analysis, at(analysis, "cudaGraphLaunch"))
    assert names(chain)[:3] == ["ProfilerStep#1", "CompiledFxGraph", "cudaGraphLaunch"]
    assert len(chain.rungs) == 6
    assert chain.work_count == 3
    assert "one call, many kernels" in chain.rungs[2].purpose
    one = chains.chain_of(analysis, at(analysis, "triton_poi_fused_add_0"))
    assert names(one)[-2:] == ["cudaGraphLaunch", "triton_poi_fused_add_0"]
    assert one.remarks == ("This call started 3 pieces of GPU work; only this one is shown.",)


def test_a_large_graph_is_cut_and_says_so() -> None:
    kernels = [kernel("k", 100 + number, 1, correlation=1) for number in range(60)]
    analysis = handmade.analysis_of(launch(0, 5, correlation=1, name="cudaGraphLaunch"), *kernels)
    chain = chains.chain_of(analysis, 0)
    assert len(chain.rungs) == 1 + chains.WORK_MAX
    assert chain.work_count == 60
    assert chain.remarks == ("The first 50 of 60 pieces of GPU work are listed.",)


def test_deep_recursion_shows_its_inner_end() -> None:
    deep = [op("f", level, 2000 - 2 * level) for level in range(300)]
    analysis = handmade.analysis_of(*deep, launch(500, 5, correlation=1))
    chain = chains.chain_of(analysis, len(analysis.trace) - 1)
    assert len(chain.rungs) == chains.RUNGS_MAX
    assert names(chain)[-1] == "cudaLaunchKernel"
    assert chain.remarks[-1] == "Only the innermost 100 rows on the CPU are shown."


def test_a_kernel_whose_launch_is_lost_says_so() -> None:
    analysis = handmade.analysis_of(*handmade.leaked_rows())
    chain = chains.chain_of(analysis, at(analysis, "leaked_gemm"))
    assert names(chain) == ["leaked_gemm"]
    assert chain.rungs[0].delay_ns is None
    assert chain.remarks == (chains.NO_LAUNCH,)


def test_without_the_launch_the_operator_is_found_by_its_number() -> None:
    analysis = handmade.analysis_of(
        op("aten::mm", 0, 20, external_id=9), kernel("gemm", 30, 5, **{"External id": 9})
    )
    chain = chains.chain_of(analysis, at(analysis, "gemm"))
    assert names(chain) == ["aten::mm", "gemm"]
    assert chain.remarks == (chains.BY_NUMBER,)


def test_several_calls_with_one_number_are_told() -> None:
    analysis = handmade.analysis_of(
        launch(0, 5, correlation=1), launch(10, 5, correlation=1), kernel("k", 20, 5, correlation=1)
    )
    chain = chains.chain_of(analysis, 2)
    assert [rung.start_ns // 1000 for rung in chain.rungs] == [0, 20]
    assert chains.SEVERAL in chain.remarks


def test_a_call_that_waits_leads_to_nothing() -> None:
    analysis = article()
    chain = chains.chain_of(analysis, at(analysis, "cudaDeviceSynchronize"))
    assert names(chain) == ["cudaDeviceSynchronize"]
    assert chain.remarks == (chains.NO_WORK_BELOW,)
    assert "waits here until the GPU has finished" in chain.rungs[0].purpose


def test_a_launch_without_its_kernel_is_told() -> None:
    analysis = handmade.analysis_of(*handmade.lost_gpu_rows())
    chain = chains.chain_of(analysis, at(analysis, "cudaLaunchKernel"))
    assert names(chain) == ["ProfilerStep#0", "aten::mm", "cudaLaunchKernel"]
    assert chain.remarks == (chains.NO_WORK,)


def test_labels_on_the_gpu_have_no_chain() -> None:
    rows = handmade.doubled_marker_rows()
    analysis = handmade.analysis_of(*rows)
    (labels,) = np.flatnonzero(analysis.trace.is_kind("gpu_annotation"))[:1]
    assert chains.chain_of(analysis, int(labels)).remarks == (chains.NO_CHAIN,)


@pytest.mark.parametrize("row", [-1, 10, 10**12])
def test_a_row_that_is_not_there_is_refused(row: int) -> None:
    with pytest.raises(ValueError, match="There is no row"):
        chains.chain_of(article(), row)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ProfilerStep#3", "One recorded step"),
        ("aten::matmul", "Looks at the shapes"),
        ("aten::mm", "Multiplies two matrices"),
        ("TorchDynamo Cache Lookup", "Checks whether compiled code fits"),
        ("Torch-Compiled Region: 0/0", "code that torch.compile generated"),
        ("AOTDispatcher Runtime Wrapper Prologue", "Prepares the inputs"),
        ("## Call CompiledFxGraph fabc ##", "Calls the compiled graph"),
        ("triton_poi_fused_add_0", "wrapper of a generated Triton kernel"),
        ("autograd::engine::evaluate_function: MmBackward0", "backward pass"),
        ("my_op", "An operator of PyTorch"),
    ],
)
def test_operators_say_what_they_are_for(name: str, words: str) -> None:
    assert words in rungs.purpose(name, "operator")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cudaLaunchKernel", rungs.LAUNCH),
        ("cuLaunchKernelEx", rungs.LAUNCH),
        ("hipModuleLaunchKernel", rungs.LAUNCH),
        ("urEnqueueKernelLaunchWithArgsExp", rungs.LAUNCH),
        ("cudaGraphLaunch", rungs.GRAPH_LAUNCH),
        ("cudaOccupancyMaxActiveClusters", "how many blocks"),
        ("hipDeviceSynchronize", "The CPU waits here for the GPU"),
        ("cudaWhatever", "A call to the GPU's driver"),
    ],
)
def test_calls_say_what_they_are_for(name: str, words: str) -> None:
    assert words in rungs.purpose(name, "runtime")


def test_every_kind_has_words_and_kernels_say_their_family() -> None:
    for kind in KINDS:
        assert rungs.purpose("something", kind).endswith(".")
    assert "matrix product itself" in rungs.purpose("nvjet_sm90_tst_64x8_v_bz_NNT", "kernel")


@pytest.mark.parametrize("recording", library.samples(), ids=lambda recording: recording.id)
def test_chains_of_the_samples_hold_together(recording: library.Recording) -> None:
    analysis = Analysis.of_recording(recording, read(recording.trace_path))
    for asked in range(len(analysis.trace)):
        chain = chains.chain_of(analysis, asked)
        rows = [rung.row for rung in chain.rungs]
        cpu = [rung for rung in chain.rungs if rung.kind in CPU_SIDE]
        assert asked in rows
        # Each rung begins inside the one above it
        for outer, inner in itertools.pairwise(cpu):
            assert outer.start_ns <= inner.start_ns <= outer.start_ns + outer.duration_ns
        for rung in chain.rungs:
            if rung.kind in GPU_WORK and rung.delay_ns is not None:
                call = cpu[-1]
                assert rung.delay_ns == rung.start_ns - call.start_ns >= 0
