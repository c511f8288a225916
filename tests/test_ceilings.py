"""Ceilings: what was measured for a device is found again, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from profcore import ceilings
from profcore.ceilings import Ceilings
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


def test_ceilings_beside_a_sweep_come_first(tmp_path: Path) -> None:
    sweep = tmp_path / "sweep"
    sweep.mkdir()
    (sweep / ceilings.CEILINGS_FILE).write_bytes(msgspec.json.encode(MEASURED))
    assert ceilings.beside(sweep, tmp_path, environment()) == MEASURED
    (sweep / ceilings.CEILINGS_FILE).unlink()
    found = ceilings.beside(sweep, tmp_path, environment())
    assert found is not None
    assert found.source == "table"
