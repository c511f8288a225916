"""Ceilings: what was measured for a device is found again, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from profcore import ceilings
from profcore.devices import Ceilings, ceilings_with
from profcore.recording import CEILINGS_FILE, EXPERIMENT_FILE, open_folder, read_ceilings
from tests.rule_traces import environment

if TYPE_CHECKING:
    from pathlib import Path

MEASURED = Ceilings(
    source="measured",
    source_text="Measured.",
    device_name="NVIDIA H200",
    flops_per_s={"bf16": 7e14},
    memory_bytes_per_s=4e12,
    launch_ns=4000.0,
)


def test_what_was_measured_is_found_for_the_same_device_driver_and_torch(tmp_path: Path) -> None:
    here = environment()
    assert ceilings.load(tmp_path, here) is None
    ceilings.save(tmp_path, here, MEASURED)
    assert ceilings.load(tmp_path, here) == MEASURED
    assert ceilings.find_ceilings(tmp_path, here) == MEASURED
    for change in ({"torch": "2.12"}, {"driver": "999"}, {"device_name": "NVIDIA A100"}):
        assert ceilings.load(tmp_path, msgspec.structs.replace(here, **change)) is None


def test_the_table_is_the_fallback_and_says_so(tmp_path: Path) -> None:
    found = ceilings.find_ceilings(tmp_path, environment())
    assert found is not None
    assert found.source == "table"
    assert found.source_text.startswith("NVIDIA's figures (H200 SXM), dense")
    assert found.flops_per_s["bf16"] == 989.5e12
    assert found.memory_bytes_per_s == 4.8e12
    assert ceilings.find_ceilings(tmp_path, environment("cpu")) is None


def test_a_damaged_file_counts_as_none(tmp_path: Path) -> None:
    ceilings.save(tmp_path, environment(), MEASURED)
    next((tmp_path / "ceilings").iterdir()).write_text("{")
    assert ceilings.load(tmp_path, environment()) is None


def test_of_two_measurements_the_higher_rates_count() -> None:
    other = msgspec.structs.replace(
        MEASURED,
        source_text="Again.",
        flops_per_s={"bf16": 6e14, "fp32": 5e13},
        memory_bytes_per_s=4.2e12,
        launch_ns=None,
    )
    found = ceilings.highest(MEASURED, other)
    assert found.flops_per_s == {"bf16": 7e14, "fp32": 5e13}
    assert found.memory_bytes_per_s == 4.2e12
    assert (found.launch_ns, found.source_text) == (4000.0, "Again.")


def test_a_recording_takes_its_ceilings_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / EXPERIMENT_FILE).write_text("{}")
    assert open_folder(folder).ceilings is None
    (folder / CEILINGS_FILE).write_bytes(msgspec.json.encode(MEASURED))
    assert open_folder(folder).ceilings == MEASURED
    (folder / CEILINGS_FILE).write_text("{")
    assert open_folder(folder).ceilings is None  # the recording itself is whole


def test_ceilings_beside_a_sweep_come_first(tmp_path: Path) -> None:
    sweep = tmp_path / "sweep"
    sweep.mkdir()
    (sweep / CEILINGS_FILE).write_bytes(msgspec.json.encode(MEASURED))
    assert ceilings.beside(sweep, tmp_path, environment()) == MEASURED
    (sweep / CEILINGS_FILE).unlink()
    found = ceilings.beside(sweep, tmp_path, environment())
    assert found is not None
    assert found.source == "table"


@pytest.mark.parametrize("rate", ["0", "-1", "null"])
def test_a_rate_that_cannot_be_counts_as_no_ceilings(tmp_path: Path, rate: str) -> None:
    text = msgspec.json.encode(MEASURED).decode().replace("700000000000000.0", rate)
    assert text.count(rate) >= 1
    (tmp_path / CEILINGS_FILE).write_text(text)
    assert read_ceilings(tmp_path) is None


def test_measured_comes_before_listed_and_each_only_with_the_number_format() -> None:
    def source(measured: Ceilings | None, name: str | None, dtype: str | None) -> str | None:
        found = ceilings_with(measured, name, dtype)
        return found.source if found else None

    assert source(MEASURED, "NVIDIA H200", "bf16") == "measured"
    assert source(MEASURED, "NVIDIA H200", None) == "measured"
    assert source(MEASURED, "NVIDIA H200", "fp16") == "table"
    assert source(None, "NVIDIA H200", "bf16") == "table"
    assert source(MEASURED, "GPU 9000", "fp16") is None
    assert source(MEASURED, None, "bf16") == "measured"
    assert source(None, None, None) is None
