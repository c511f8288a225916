"""The trust report: every check in each of its outcomes, on traces made for it."""

from __future__ import annotations

from typing import Any

import pytest

from profcore.analysis import Analysis, trust
from profcore.analysis.trust import CHECKS, Check
from tests import handmade
from tests.handmade import analysis_of, trace_of
from tests.trace_bytes import annotation, kernel, launch, memory, op, overhead, row, step

OPTIONS = {"record_shapes": 1, "with_stack": 1, "profile_memory": 1, "with_flops": 1}


def check(name: str, *rows: dict[str, Any], **header: Any) -> Check:
    found = {one.id: one for one in trust.checks(Analysis(trace_of(*rows, **header)))}
    assert list(found) == [known for known, _, _ in CHECKS]
    return found[name]


def stretched(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give the durations digits below the microsecond, as a current file has them."""
    return [{**one, "dur": one["dur"] + 0.25} if one["ph"] == "X" else one for one in rows]


def test_nothing_is_to_be_looked_at_in_a_sound_trace() -> None:
    rows = stretched(handmade.plain_rows())
    found = trust.checks(Analysis(trace_of(*rows, **OPTIONS)))
    assert {one.id: one.outcome for one in found if one.outcome != "fine"} == {}


def test_ids_are_unique_and_every_text_is_a_sentence() -> None:
    assert len({name for name, _, _ in CHECKS}) == len(CHECKS)
    for rows in (handmade.plain_rows(), handmade.cpu_rows(), handmade.graph_rows()):
        for one in trust.checks(analysis_of(*rows)):
            assert one.text.endswith("."), one
            assert one.outcome in {"fine", "look", "cannot tell"}


def test_rows_set_aside_are_counted_with_their_reason() -> None:
    found = check("rows_set_aside", op("a", 0, 10), op("b", 20, -5))
    assert found.outcome == "look"
    assert found.text == (
        "1 row is in no count and no sum, 50.0 % of the file: 1 × duration is negative."
    )


def test_untimed_elements_are_fine_unless_nobody_knows_them() -> None:
    known = check("untimed", op("a", 0, 1), memory(1, 1, allocated=1, reserved=1))
    assert known.outcome == "fine"
    assert "1 × memory rows" in known.text
    assert check("untimed", op("a", 0, 1), {"ph": "?", "name": "x"}).outcome == "look"


def test_copies_of_rows_are_counted() -> None:
    rows = [step(1, 0, 100), launch(10, 5, correlation=1), kernel("k", 20, 30, correlation=1)]
    found = check("duplicates", *rows, *rows)
    # The kernel, the launch call and the step marker.
    assert found.outcome == "look"
    assert found.text.startswith("3 rows are an exact copy")
    assert check("duplicates", *rows).outcome == "fine"


def test_a_gpu_that_is_listed_and_not_recorded_was_not_idle() -> None:
    found = check("gpu_recorded", op("a", 0, 10))
    assert found.outcome == "look"
    assert "does not mean an idle GPU" in found.text
    assert "ProfilerActivity.CUDA" in found.snippet
    assert check("gpu_recorded", op("a", 0, 10), devices=()).outcome == "cannot tell"
    # 3 steps with two kernels each
    assert check("gpu_recorded", *handmade.plain_rows()).text.startswith("6 kernels and 0 copies")


def test_launches_without_kernels_name_the_steps_that_lost_all() -> None:
    rows = [one for one in handmade.plain_rows() if one["cat"] != "kernel" or one["ts"] > 200]
    found = check("launches_and_kernels", *rows)
    assert found.outcome == "look"
    assert found.text.startswith("4 of 6 kernel launches in the steps left GPU work in the file.")
    assert "Step #2 lost all of it" in found.text
    assert check("launches_and_kernels", *handmade.plain_rows()).outcome == "fine"
    assert check("launches_and_kernels", *handmade.cpu_rows(), devices=()).outcome == "cannot tell"


def test_launches_while_a_graph_is_captured_are_not_lost() -> None:
    capture = [
        row("cudaStreamBeginCapture", 11, 1, cat="cuda_runtime"),
        launch(13, 1, correlation=90),
        row("cudaStreamEndCapture", 15, 1, cat="cuda_runtime"),
    ]
    found = check("launches_and_kernels", *handmade.plain_rows(), *capture)
    assert found.text.startswith("6 of 6 kernel launches")


def test_work_that_leaks_in_at_the_edge_is_measured() -> None:
    found = check("window_edges", *handmade.leaked_rows())
    # 50 µs without a launch against 3 × 40 µs
    assert found.outcome == "look"
    assert "1 piece of GPU work has no launch call in the file (50.0 µs, 41.7 %" in found.text
    assert check("window_edges", *handmade.plain_rows()).outcome == "fine"


def test_launches_after_the_last_work_are_said() -> None:
    late = launch(505, 2, correlation=99)
    found = check("window_edges", *handmade.plain_rows(), late)
    assert found.outcome == "look"
    assert "1 launch at the end left no work" in found.text


def test_overlong_rows_are_flagged_with_the_time_they_would_hide() -> None:
    rows = [kernel("long", 0, 1000), kernel("a", 20, 10), kernel("b", 40, 20)]
    found = check("overlong", *rows)
    assert found.outcome == "look"
    # Its own time ends at 20 at the latest: 980 too much of 1,030; a and b are 30.
    assert "1 row runs over 2 later rows" in found.text
    assert "980 µs of their time is not theirs (95.1 %" in found.text
    assert "30.0 µs of other work would be hidden" in found.text
    assert check("overlaps", *rows).outcome == "look"
    assert check("overlong", *handmade.plain_rows()).outcome == "fine"


def test_short_overlaps_are_fine() -> None:
    found = check("overlaps", kernel("a", 0, 30), kernel("b", 28, 30))
    assert found.outcome == "fine"
    assert "by 2.00 µs at most: short overlaps happen by design" in found.text


def test_clocks_that_disagree_are_measured() -> None:
    found = check("clock_skew", *handmade.skewed_rows())
    assert found.outcome == "look"
    assert "In 1 of 2 pairs" in found.text
    assert "by 800 ns at most" in found.text
    assert check("clock_skew", *handmade.plain_rows()).outcome == "fine"


def test_whole_microseconds_are_said_where_kernels_are_short() -> None:
    assert check("resolution", kernel("a", 0, 3)).outcome == "look"
    assert check("resolution", kernel("a", 0, 300)).outcome == "fine"
    assert check("resolution", kernel("a", 0, 3.5)).outcome == "fine"


def test_profiler_overhead_counts_inside_steps_only() -> None:
    rows = [step(1, 0, 100), op("a", 10, 20), overhead(40, 10), overhead(200, 500)]
    found = check("profiler_overhead", *rows)
    assert found.outcome == "look"
    assert "1 row of the profiler" in found.text
    assert "10.0 µs inside the steps, 10.0 % of their time" in found.text
    assert check("profiler_overhead", *rows[:2]).outcome == "fine"
    assert check("profiler_overhead", op("a", 0, 1)).outcome == "cannot tell"


def test_compilation_counts_its_outermost_rows_inside_steps() -> None:
    rows = [
        step(1, 0, 100),
        annotation("entire_frame_compile (dynamo_timed)", 10, 50),
        annotation("backend_compile (dynamo_timed)", 20, 30),
    ]
    found = check("compilation", *rows)
    assert found.outcome == "look"
    assert "50.0 µs inside the steps, 50.0 %" in found.text
    assert check("compilation", *rows[:1]).outcome == "fine"


@pytest.mark.parametrize(
    ("numbers", "outcome", "words"),
    [
        ((4, 5, 6), "fine", "3 steps marked."),
        ((4, 7), "look", "2 numbers are missing between them (#5, #6)"),
    ],
)
def test_holes_in_the_numbers_of_steps_are_said(
    numbers: tuple[int, ...], outcome: str, words: str
) -> None:
    rows = []
    for at, number in enumerate(numbers):
        rows += [step(number, 200 * at, 100), op("a", 200 * at + 10, 20)]
    found = check("steps", *rows, devices=())
    assert found.outcome == outcome
    assert words in found.text


def test_missing_markers_come_with_the_snippet_that_sets_them() -> None:
    found = check("steps", op("a", 0, 10))
    assert found.outcome == "cannot tell"
    assert "profiler.step()" in found.snippet


def test_missing_options_come_with_the_snippet_that_sets_them() -> None:
    found = check("capture_options", op("a", 0, 1), record_shapes=1, with_flops=1)
    assert found.outcome == "cannot tell"
    assert "Not recorded: Python stacks, memory." in found.text
    assert found.snippet == (
        "torch.profiler.profile(\n    with_stack=True,\n    profile_memory=True,\n)"
    )
    assert check("capture_options", op("a", 0, 1), **OPTIONS).outcome == "fine"
