"""`analyze --json` on every shared file, against the values that are right for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from profcore.__main__ import BAD_INPUT, DONE, main
from tests import reference
from tests.reference import agree, agree_us

FILES = sorted(reference.files().items())

pytestmark = [
    pytest.mark.traces,
    pytest.mark.skipif(not FILES, reason=reference.MISSING_REASON),
]

TIMES = ("gpu_kernel_sum_us", "gpu_busy_us", "operator_cpu_us", "launch_delay_mean_us")
COUNTS = ("kernels", "launches")


def ns(value_us: float | None) -> float | None:
    return None if value_us is None else value_us * 1000


def unrecorded_is_zero(value: Any) -> Any:
    """Where no GPU rows are in the file, 0 and null are equally right."""
    return value or 0


@pytest.mark.parametrize(("name", "facts"), FILES, ids=[name for name, _ in FILES])
def test_the_answer_is_that_of_the_reference(
    name: str, facts: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["analyze", str(reference.FOLDER / name), "--json"])
    out, err = capsys.readouterr()
    if status == BAD_INPUT:
        assert facts["expect"] in {"refused", "opens or refused"}
        assert out == ""
        assert err.count("\n") == 1
        assert "Traceback" not in err
        assert any(word in err.lower() for word in facts["names_one_of"])
        return
    assert status == DONE
    assert facts["expect"] in {"opens", "opens or refused"}
    answer, stated = json.loads(out), facts["totals"]
    if facts["expect"] == "opens":
        assert answer["source"]["events"] == facts["events"]
        assert sum(answer["source"]["set_aside"].values()) == facts["rows_set_apart"]
    for figure in COUNTS:
        if figure in stated:
            ours = answer["totals"][figure]
            assert agree(unrecorded_is_zero(ours), stated[figure] or 0), figure
    for figure in TIMES:
        if figure in stated:
            ours = answer["totals"][figure]
            is_right = agree_us(ns(ours), stated[figure])
            neither = not stated["kernels"] and not ours and not stated[figure]
            assert is_right or neither, (figure, ours, stated[figure])
    assert len(answer["trust"]) == 15
    assert all(check["text"] for check in answer["trust"])
