"""A recording on the Run page: done, ended badly, unknown, hostile; and what to try next."""

from __future__ import annotations

import gzip
import json
import os
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import streamlit as st
from msgspec.structs import replace

from pages._panels.figures import chosen_line
from pages._panels.observations import FIRST_MAX, KINDS, first_count
from profcore.experiment import Experiment
from profcore.recording import TRACE_FILE
from profcore.rules import RULES
from tests.page_app import GPU_MACHINE, Visit
from tests.page_recordings import CPU, FAST, GEMM, cpu_rows, gpu_rows, write_recording
from tests.trace_bytes import trace_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from profcore.recording import State
    from tests.trace_bytes import Row

OWN = "0123456789ab"


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    yield Visit(tmp_path, monkeypatch)
    st.cache_resource.clear()


def show(visit: Visit, **recording: object) -> None:
    write_recording(visit.library.root / OWN, **recording)  # type: ignore[arg-type]
    visit.open(run=OWN)


def metrics(visit: Visit) -> dict[str, str]:
    return {number.label: str(number.value) for number in visit.app.metric}


def alts(visit: Visit) -> list[str]:
    return [chart.proto.alt for chart in visit.app.get("vega_lite_chart")]


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (None, None),
        ({}, None),
        ({"selection": {"rows": []}}, None),
        ({"selection": {"rows": [2]}}, 2),
        ({"selection": {"rows": [7]}}, None),  # of the table before this one
    ],
)
def test_the_chosen_line_of_a_table(state: object, line: int | None) -> None:
    assert chosen_line(state, 5) == line


def folds(visit: Visit) -> list[Any]:
    return [fold for fold in visit.app.expander if fold.label == "Evidence and source"]


@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        ("w", 1),
        ("wnffff", 6),
        ("wnffffff", 8),  # two more are not worth a button
        ("wnfffffff", 6),
        ("ttttwwwwffff", 8),  # what matters is always there
        ("ttttwwwwff", 10),
    ],
)
def test_observations_that_only_explain_can_wait(kinds: str, count: int) -> None:
    names = {"t": "trust", "w": "warning", "n": "note", "f": "fact"}
    findings = [SimpleNamespace(kind=names[letter]) for letter in kinds]
    assert first_count(findings) == count  # type: ignore[arg-type]


class TestDone:
    def test_verdict_stands_with_its_arithmetic(self, visit: Visit) -> None:
        show(visit)
        # The GPU works 5 µs of a step of 33 µs: 15.2 %
        assert "the GPU works only 15.2 % of each step" in visit.texts()
        assert "5.00 µs ÷ 33.0 µs = 15.2 % busy" in visit.texts()

    @pytest.mark.parametrize("rows", [gpu_rows(gemm_us=31), cpu_rows()], ids=["gpu", "cpu"])
    def test_each_line_leads_to_the_table_it_rests_on(self, visit: Visit, rows: list[Row]) -> None:
        on_gpu = len(rows) > len(cpu_rows())
        show(visit, rows=rows, **({} if on_gpu else {"environment": CPU}))
        links = set(re.findall(r"\(from \[\w+\]\(#([\w-]+)\)\)", visit.texts()))
        assert links >= {"table-steps", "table-timings"}
        assert not re.search(r"\(from \w", visit.texts())
        anchors = {heading.proto.anchor for heading in visit.app.subheader}
        assert links <= anchors

    def test_four_numbers(self, visit: Visit) -> None:
        show(visit)
        numbers = metrics(visit)
        assert numbers["Step time, no profiler"] == "33.0 µs"
        assert numbers["GPU busy"] == "15.2 %"
        assert numbers["Launches per step"] == "2"
        # 528,384 operations in 33 µs are 16.0 GFLOP/s, 0.002 % of 989.5 TFLOP/s
        assert numbers["Achieved"] == "16.0 GFLOP/s"
        texts = visit.texts()
        assert "half of the repeats: 32.5 µs to 34.1 µs" in texts
        assert "5.00 µs of each step" in texts
        assert "they start 2 kernels" in texts
        assert "<0.1 % of the peak of an NVIDIA H200" in texts

    def test_charts_with_questions_takeaways_and_tables(self, visit: Visit) -> None:
        show(visit)
        headings = [heading.value for heading in visit.app.subheader]
        assert headings[-8:-3] == [
            "Which operators take the time, on the CPU and on the GPU?",
            "How long does each step take, and how much of it is the GPU busy?",
            "Which kernels and copies fill the GPU's time?",
            "What did the GPU wait for in each step?",
            "How much launched work waits for the GPU?",
        ]
        assert len(alts(visit)) == 5
        assert "without the profiler a step takes 33.0 µs" in alts(visit)[1]
        assert GEMM in alts(visit)[2]
        tables = [table.value for table in visit.app.dataframe]
        assert [table.columns[0] for table in tables] == [
            *("Name", "Step", "Name", "Step", "Device")
        ]
        assert tables[2]["Name"].tolist()[0] == GEMM

    def test_a_cold_start_draws_its_first_step_apart(self, visit: Visit) -> None:
        show(visit, rows=gpu_rows(first_us=120_000), experiment=Experiment(warmup=0))
        assert len(alts(visit)) == 7  # and so does the long wait after it
        assert alts(visit)[1].startswith("The first step took 120 ms")

    def test_a_cpu_run_says_what_a_gpu_would_add(self, visit: Visit) -> None:
        show(visit, rows=cpu_rows(), environment=CPU, experiment=Experiment(device="cpu"))
        assert len(alts(visit)) == 2
        assert metrics(visit)["GPU busy"] == "no GPU work"
        assert "this device's peak is not known here" in visit.texts()
        assert "A run on a GPU has three more charts here" in visit.texts()

    def test_observations_are_shown_by_state_and_seen_first(self, visit: Visit) -> None:
        show(visit)
        control = visit.app.button_group(key="observation_state")
        assert control.options[0].startswith("Seen (")
        assert "Kernels too short for their launches" in visit.texts()
        # The badges of the rows: what costs time stands before what explains.
        kinds = [words.label for words in KINDS.values()]
        rows = [
            text.value
            for text in visit.app.markdown
            if "-badge[" in text.value and any(f"{kind}]" in text.value for kind in kinds)
        ]
        assert "Time is lost" in rows[0]
        assert "Explains" in rows[-1]

    @pytest.mark.parametrize(
        ("state", "words"),
        [
            ("not_checked", "then why it was not checked"),
            ("clear", "then what it would mean"),
        ],
    )
    def test_observations_that_were_not_seen_are_a_click_away(
        self, visit: Visit, state: str, words: str
    ) -> None:
        show(visit)
        control = visit.app.button_group(key="observation_state")
        assert sum(int(text.split("(")[1].rstrip(")")) for text in control.options) == len(RULES)
        control.set_value(state).run()
        visit.is_well()
        assert words in visit.texts()
        is_last = state == "not_checked"
        assert ("What this recording cannot tell you" in visit.texts()) == is_last
        assert any("export_chrome_trace" in code.value for code in visit.app.code) == is_last

    def test_evidence_and_source_stand_under_every_seen_row(self, visit: Visit) -> None:
        show(visit)
        seen = visit.app.button_group(key="observation_state").options[0]
        count = int(seen.split("(")[1].rstrip(")"))
        assert len(folds(visit)) == FIRST_MAX < count
        assert all(any("Source: " in text.value for text in fold.caption) for fold in folds(visit))
        # Those that only explain are one click away, and stay for the next result.
        more = visit.app.button(key="observations_more")
        assert more.label == f"{count - FIRST_MAX} more that only explain"
        visit.press("observations_more")
        assert len(folds(visit)) == count
        visit.open(run=OWN)
        assert len(folds(visit)) == count

    def test_files_are_built_when_asked_for(self, visit: Visit) -> None:
        show(visit)
        labels = [button.label for button in visit.app.download_button]
        assert labels == [
            "Trace",
            "PyTorch's table",
            "Operators (CSV)",
            "Kernels (CSV)",
            "Steps (CSV)",
            "Report (JSON)",
        ]

    def test_a_sample_says_where_it_was_recorded(self, visit: Visit) -> None:
        visit.with_samples().open(run="h200-matmul-add-64")
        assert "Recorded example" in visit.texts()
        assert "Recorded on NVIDIA H200 · PyTorch 2.11.0+cu130 · CUDA 13.0" in visit.texts()

    def test_link_names_the_recording(self, visit: Visit) -> None:
        show(visit)
        assert any(block.value.endswith(f"?run={OWN}") for block in visit.app.code)

    def test_settings_of_a_recording_can_be_taken_over(self, visit: Visit) -> None:
        made = Experiment(workload="linear", size=100, dtype="fp32", warmup=7, steps=9)
        show(visit, experiment=made)
        visit.press("use_settings")
        visit.press("run_button")
        assert visit.runner.submitted == [made]

    def test_a_renamed_recording_shows_its_new_name(self, visit: Visit) -> None:
        show(visit)
        visit.library.rename(OWN, "My best run")
        visit.app.run()
        assert any("My best run" in heading.value for heading in visit.app.header)


class TestCache:
    def test_recordings_with_equal_traces_are_kept_apart(self, visit: Visit) -> None:
        # GIVEN two recordings whose traces have the same bytes and the same time, but one step
        # takes 33 µs without the profiler and the other 6 µs, of which 5 are GPU work
        other = "0123456789ac"
        slow = write_recording(visit.library.root / OWN)
        fast = write_recording(
            visit.library.root / other,
            timings=replace(FAST, step_ns_median=6_000.0, step_ns_p25=5_900.0, step_ns_p75=6_100.0),
        )
        for folder in (slow, fast):
            os.utime(folder / TRACE_FILE, ns=(10**18, 10**18))
        # THEN each shows its own numbers
        visit.open(run=OWN)
        assert metrics(visit)["GPU busy"] == "15.2 %"
        visit.open(run=other)
        assert metrics(visit)["GPU busy"] == "83.3 %"

    def test_a_trace_that_changed_is_read_again(self, visit: Visit) -> None:
        show(visit)
        assert metrics(visit)["Launches per step"] == "2"
        trace = gzip.compress(trace_bytes(*cpu_rows()))
        (visit.library.root / OWN / TRACE_FILE).write_bytes(trace)
        visit.app.run()
        assert metrics(visit)["Launches per step"] == "none"


class TestTryNext:
    def test_an_example_leads_to_the_example_of_the_suggestion(self, visit: Visit) -> None:
        visit.with_samples().open(run="h200-matmul-add-64")
        button = next(b for b in visit.app.button if b.label.endswith("open the example"))
        button.click().run()
        visit.is_well()
        assert visit.app.query_params["run"] == "h200-matmul-add-4096"
        assert "Compute-bound" in visit.texts()

    def test_an_own_run_moves_the_knobs_and_runs(self, visit: Visit) -> None:
        visit.runner.machine = GPU_MACHINE
        show(visit, experiment=Experiment(device="cuda:0", steps=7))
        button = next(b for b in visit.app.button if (b.key or "").startswith("try_"))
        assert button.label.startswith("Size 4")
        button.click().run()
        visit.is_well()
        (submitted,) = visit.runner.submitted
        assert submitted == Experiment(device="cuda:0", steps=7, size=4096)
        assert visit.app.select_slider(key="size").value == 4096
        assert visit.app.slider(key="steps").value == 7

    def test_where_the_device_is_missing_the_run_goes_to_what_is_there(self, visit: Visit) -> None:
        show(visit, experiment=Experiment(device="cuda:0"))
        buttons = [b for b in visit.app.button if (b.key or "").startswith("try_")]
        buttons[1].click().run()
        visit.is_well()
        assert visit.runner.submitted[0].device == "auto"

    def test_what_cannot_run_here_is_disabled_with_the_reason(self, visit: Visit) -> None:
        # GIVEN a CPU that would take far too long for 4096 in bf16
        slow = dict.fromkeys(("fp32", "tf32", "bf16", "fp16"), 1e8)
        assert visit.runner.machine is not None
        visit.runner.machine = replace(visit.runner.machine, cpu_flops_per_s=slow)
        show(visit)
        button = next(b for b in visit.app.button if (b.key or "").startswith("try_"))
        assert button.disabled
        assert "Not here: One step is 137 GFLOP in bf16" in visit.texts()


class TestEndedBadly:
    @pytest.mark.parametrize(
        ("state", "heading"),
        [
            ("failed", "This run failed"),
            ("cancelled", "This run was cancelled"),
            ("timeout", "This run took too long"),
        ],
    )
    def test_says_what_happened(self, visit: Visit, state: State, heading: str) -> None:
        show(visit, state=state, message="It *stopped* here.", log_tail="last line\n<b>")
        assert heading in [text.value for text in visit.app.header]
        assert "It *stopped* here." in visit.texts()
        assert "last line\n<b>" in [block.value for block in visit.app.code]
        assert not visit.app.get("vega_lite_chart")

    def test_can_be_run_again(self, visit: Visit) -> None:
        show(visit, state="failed", experiment=Experiment(size=512))
        visit.press("again")
        assert visit.runner.submitted == [Experiment(size=512)]

    def test_a_trace_that_cannot_be_read_is_told(self, visit: Visit) -> None:
        show(visit, trace=b"\x1f\x8bthis is no gzip")
        assert visit.app.error
        assert not visit.app.get("vega_lite_chart")


@pytest.mark.parametrize(
    "recording_id",
    ["ffffffffffff", "../../etc/passwd", "x", "..", "h200-unknown", "![a](http://127.0.0.1:9/)"],
)
def test_an_unknown_recording_is_told_and_nothing_fails(visit: Visit, recording_id: str) -> None:
    visit.with_samples().open(run=recording_id)
    assert len(visit.app.warning) == 1
    assert "passwd" not in visit.texts()
    assert "http" not in visit.app.warning[0].value


def test_hostile_names_are_never_markdown(visit: Visit) -> None:
    # GIVEN names that are images, links and mark-up, in the trace and in the title
    name = "gemm ![i](http://127.0.0.1:9/p.png) [l](http://127.0.0.1:9/) `x` <b>y</b> $x$"
    show(visit, rows=gpu_rows(gemm=name), title=name)
    # THEN wherever Markdown is read, the marks are escaped and no address is whole
    kinds = ("title", "header", "subheader", "markdown", "caption", "warning", "info", "error")
    shown = [str(element.value) for kind in kinds for element in getattr(visit.app, kind)]
    shown += [str(getattr(button, "label", "")) for button in visit.app.button]
    hostile = [text for text in shown if "gemm" in text]
    assert hostile
    for text in hostile:
        assert "http://127" not in text
        assert "](" not in text
        assert "`x`" not in text
        assert "<b>" not in text
    # AND where text is text, it is whole
    assert name in visit.app.dataframe[2].value["Full name"].tolist()
    assert name in [block.value for block in visit.app.code]
    spec = json.loads(visit.app.get("vega_lite_chart")[2].proto.spec)
    assert spec["layer"][0]["mark"]["type"] == "bar"
