"""What can be taken away: trace, PyTorch's own table, tables as CSV, the report; or to Perfetto."""

from collections.abc import Callable

import msgspec
import streamlit as st

from pages._panels.results import Result, held_lightly
from pages._panels.timeline_perfetto import of_recording, perfetto_panel
from profcore.analysis import Analysis
from profcore.commands.report import report
from profcore.recording import Recording
from profcore.trace import read


def downloads_panel(recording: Recording, result: Result) -> None:
    """Draw one button per file; a file is built when its button is pressed."""
    st.subheader("Take it with you", anchor=False)
    name = f"profcore-{recording.id}"
    light = held_lightly(
        result, lambda: Analysis.of_recording(recording, read(recording.trace_path))
    )
    with st.container(horizontal=True):
        download("Trace", f"{name}.trace.json.gz", recording.trace_path.read_bytes)
        if recording.table_path.is_file():
            download("PyTorch's table", f"{name}.table.txt", recording.table_path.read_bytes)
        for table in ("operators", "kernels", "steps"):
            download(f"{table.capitalize()} (CSV)", f"{name}.{table}.csv", csv_of(light, table))
        download("Report (JSON)", f"{name}.report.json", report_of(light))
    st.caption("Times in the CSV files are whole nanoseconds.")
    perfetto_panel(of_recording(recording))


def download(label: str, file_name: str, build: Callable[[], bytes]) -> None:
    """Draw one button; the file is built when it is pressed."""
    st.download_button(
        label,
        build,
        file_name,
        key=f"download_{label}",
        on_click="ignore",
        icon=":material/download:",
    )


def csv_of(result: Callable[[], Result], table: str) -> Callable[[], bytes]:
    """Return what builds a table of the analysis as CSV."""

    def build() -> bytes:
        text: str = getattr(result().analysis, table).to_csv(index=False)
        return text.encode()

    return build


def report_of(result: Callable[[], Result]) -> Callable[[], bytes]:
    """Return what builds the whole report as JSON."""

    def build() -> bytes:
        shown = result()
        answer = report(shown.analysis, list(shown.findings), shown.verdict)
        return msgspec.json.format(msgspec.json.encode(answer), indent=1)

    return build
