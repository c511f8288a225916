"""What can be taken away: the trace, PyTorch's own table, the tables as CSV, the whole report."""

from collections.abc import Callable

import msgspec
import streamlit as st

from pages._panels.results import Result
from profcore.commands.report import report
from profcore.recording import Recording


def downloads_panel(recording: Recording, result: Result) -> None:
    """Draw one button per file; a file is built when its button is pressed."""
    st.subheader("Take it with you", anchor=False)
    name = f"profcore-{recording.id}"
    with st.container(horizontal=True):
        _button("Trace", f"{name}.trace.json.gz", recording.trace_path.read_bytes)
        if recording.table_path.is_file():
            _button("PyTorch's table", f"{name}.table.txt", recording.table_path.read_bytes)
        for table in ("operators", "kernels", "steps"):
            _button(f"{table.capitalize()} (CSV)", f"{name}.{table}.csv", _csv(result, table))
        _button("Report (JSON)", f"{name}.report.json", lambda: _report(result))
    st.markdown(
        ":small[The trace opens in [Perfetto](https://ui.perfetto.dev), a viewer that draws every "
        "event on lanes: download it, then drop it there. Times in the CSV files are whole "
        "nanoseconds.]"
    )


def _button(label: str, file_name: str, build: Callable[[], bytes]) -> None:
    st.download_button(
        label,
        build,
        file_name,
        key=f"download_{label}",
        on_click="ignore",
        icon=":material/download:",
    )


def _csv(result: Result, table: str) -> Callable[[], bytes]:
    def build() -> bytes:
        text: str = getattr(result.analysis, table).to_csv(index=False)
        return text.encode()

    return build


def _report(result: Result) -> bytes:
    answer = report(result.analysis, list(result.findings), result.verdict)
    return msgspec.json.format(msgspec.json.encode(answer), indent=1)
