"""The rows that a finding shows as its evidence."""

from __future__ import annotations

import numpy as np

from profcore.rules.quantities import Quantities
from profcore.rules.rows import evidence
from tests.handmade import analysis_of
from tests.trace_bytes import op


def test_evidence_names_every_name_before_it_repeats_one() -> None:
    # GIVEN three long calls of one operator, two of another, a short one of a third
    rows = [
        op("aten::mm", 0, 50),
        op("aten::mm", 100, 60),
        op("aten::mm", 200, 40),
        op("aten::add", 300, 10),
        op("aten::add", 400, 20),
        op("aten::relu", 500, 5),
    ]
    quantities = Quantities.of(analysis_of(*rows))
    operators = np.flatnonzero(quantities.trace.is_kind("operator"))

    # WHEN four are asked for
    found = evidence(quantities, operators, limit=4)

    # THEN the longest of each comes first, longest first, then the longest that is left
    assert [(one.text.partition(",")[0], one.duration_ns) for one in found] == [
        ("aten::mm", 60_000),
        ("aten::add", 20_000),
        ("aten::relu", 5_000),
        ("aten::mm", 50_000),
    ]
