"""Where on the picture does each lane and each level stand, in pixels from the top?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
import pandas as pd

from profcore.units import time_text

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from profcore.analysis.timeline import Timeline

LEVEL_PX: Final = 18
BAR_PX: Final = 16
TITLE_PX: Final = 22
"""Line above the bars of a lane, with its name."""
BETWEEN_PX: Final = 10

FIXED_HEIGHT: Final = alt.AutoSizeParams(type="fit-x", contains="padding")
"""As wide as the page; as high as the marks need, with axis and legend outside."""

IDLE_TITLE: Final = "GPU idle"


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """Places in pixels from the top of the picture."""

    lane_px: NDArray[np.int64]
    """(lanes,) top of the uppermost bar of each lane."""
    idle_px: int | None
    """Top of the row of GPU gaps; None without one."""
    height_px: int
    titles: pd.DataFrame
    """Columns px and text: the line above each lane."""

    def bar_px(self, lane: NDArray[np.int64], level: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the top of bars."""
        top: NDArray[np.int64] = self.lane_px[lane] + level * LEVEL_PX
        return top


def layout(line: Timeline, gaps: pd.DataFrame) -> Layout:
    """Return the places of a timeline; the gaps of the GPU stand above its first stream."""
    at, idle_px = 0, None
    lane_px, titles = [], []
    for lane in line.lanes.to_dict("records"):
        if idle_px is None and lane["side"] in {"labels", "gpu"} and len(gaps):
            idle_px = at + TITLE_PX
            idle_ns = int(gaps["duration_ns"].sum())
            titles.append((at, f"{IDLE_TITLE} · {time_text(idle_ns)} in {len(gaps):,} gaps"))
            at = idle_px + LEVEL_PX + BETWEEN_PX
        titles.append((at, f"{lane['title']} · {_drawn_text(lane)}"))
        lane_px.append(at + TITLE_PX)
        at += TITLE_PX + int(lane["levels"]) * LEVEL_PX + BETWEEN_PX
    return Layout(
        lane_px=np.array(lane_px, np.int64),
        idle_px=idle_px,
        height_px=max(at, TITLE_PX + LEVEL_PX),
        titles=pd.DataFrame(titles, columns=["px", "text"]),
    )


def _drawn_text(lane: dict[Hashable, Any]) -> str:
    drawn = time_text(lane["drawn_ns"])
    words = {"cpu": "covered", "gpu": "of work", "python": "in all", "labels": "in all"}
    return f"{drawn} {words.get(str(lane['side']), 'in all')}"
