"""Charts, each below its question, with the table that says the same beside it."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pages._panels.table_link import anchor_of
from pages._panels.text import plain
from pages._panels.timeline_link import RowLink
from profcore.charts import Figure
from profcore.charts.highlight import named

TABLE_PX = 330
ROWS_IN_FULL = 8
"""A longer table scrolls inside its own height."""
NAME_PX = 190
ROWS_LISTED_MAX = 1_000
"""Rows that are sent to the browser; a file may hold millions of names."""
LABEL_MAX = 60
"""Characters of a name in a link."""
CELL_MAX = 5_000
"""Characters of one cell; names in files can be megabytes."""


def figure_panel(figure: Figure, key: str, *, row_link: RowLink | None = None) -> None:
    """Draw one figure.

    Args:
        figure: What to draw.
        key: Of its container.
        row_link: Draws the way to a row of the trace, for tables whose lines have one.
    """
    with st.container(key=f"figure_{key}"):
        st.subheader(figure.question, anchor=anchor_of(figure.table) or False)
        if figure.outlined:
            st.markdown(f":material/ink_highlighter: {plain(outlined_words(figure))}")
        left, right = st.columns([3, 2], gap="medium")
        with left:
            _charts(figure, key)
        with right:
            name = f"The numbers of: {figure.question}"
            if row_link is None or not figure.rows:
                sheet(figure.sheet, name=name, key=f"table_{key}")
            else:
                sheet_to_follow(
                    figure.sheet.head(ROWS_LISTED_MAX),
                    rows=figure.rows[:ROWS_LISTED_MAX],
                    words=figure.row_words,
                    hidden=max(0, len(figure.sheet) - ROWS_LISTED_MAX),
                    name=name,
                    # What was chosen in another result is not chosen here.
                    key=f"table_{key}_{row_link.trace_id}",
                    row_link=row_link,
                )
        if figure.note:
            st.caption(figure.note)


def outlined_words(figure: Figure) -> str:
    """Return what is highlighted in a figure; empty when nothing is."""
    return f"Outlined: {named(figure.outlined)}." if figure.outlined else ""


def _charts(figure: Figure, key: str) -> None:
    takeaway = f"{figure.takeaway} {outlined_words(figure)}".rstrip()
    if figure.first is None:
        st.altair_chart(figure.chart, alt=takeaway, key=f"chart_{key}")
        return
    apart, rest = st.columns([1, 3], vertical_alignment="bottom")
    apart.altair_chart(figure.first, alt=figure.first_takeaway, key=f"chart_{key}_first")
    rest.altair_chart(figure.chart, alt=takeaway, key=f"chart_{key}")


# Drawn by itself: to choose a line must not draw the charts anew. It keeps what it is given for as
# long as the session, so it is given no more than it shows.
@st.fragment
def sheet_to_follow(
    table: pd.DataFrame,
    *,
    rows: tuple[int, ...],
    words: str,
    hidden: int,
    name: str,
    key: str,
    row_link: RowLink,
) -> None:
    """Draw a table whose lines can be chosen; the chosen one leads to a row of the trace."""
    line = choosable_sheet(table, name=name, key=key)
    if line is not None:
        row_link.draw(rows[line], words.format(short_label(str(table.iloc[line, 0]))))
    say_hidden(hidden)


def short_label(name: str) -> str:
    """Return a name from a file as the Markdown of a link."""
    return plain(" ".join(name.split())[:LABEL_MAX])


def choosable_sheet(table: pd.DataFrame, *, name: str, key: str) -> int | None:
    """Draw a table of which one line can be chosen; return its position, None: none is."""
    _draw(table.map(_short), name=name, key=key, can_be_chosen=True)
    line = chosen_line(st.session_state.get(key), len(table))
    if line is None:
        st.caption("Choose a line to see it on the timeline.")
    return line


def chosen_line(state: object, count: int) -> int | None:
    """Return the position of the chosen line in a table of `count` lines; None: none is."""
    places = state.get("selection", {}).get("rows", []) if isinstance(state, Mapping) else []
    return places[0] if places and places[0] < count else None


def sheet(table: pd.DataFrame, *, name: str, key: str) -> None:
    """Draw a table of numbers that can be sorted.

    Times have two decimals, shares one, rates three digits.
    """
    _draw(table.head(ROWS_LISTED_MAX).map(_short), name=name, key=key)
    say_hidden(len(table) - ROWS_LISTED_MAX)


def _draw(table: pd.DataFrame, *, name: str, key: str, can_be_chosen: bool = False) -> None:
    columns: dict[str, Any] = {}
    for column in table.columns:
        if column == "Name":
            columns[column] = st.column_config.TextColumn(width=NAME_PX, pinned=True)
        elif table[column].dtype.kind == "f" or str(table[column].dtype) == "Float64":
            columns[column] = st.column_config.NumberColumn(format=_format(column))
    st.dataframe(
        table,
        hide_index=True,
        column_config=columns,
        alt=name,
        key=key,
        height="content" if len(table) <= ROWS_IN_FULL else TABLE_PX,
        on_select="rerun" if can_be_chosen else "ignore",
        selection_mode="single-row",
    )


def say_hidden(hidden: int) -> None:
    """Say how many rows a table leaves out."""
    if hidden > 0:
        st.caption(f"The first {ROWS_LISTED_MAX:,} rows; {hidden:,} more are in the CSV file.")


def _format(column: str) -> str:
    if column.endswith("/s)"):
        return "%.3g"  # rates of one sweep may lie a million times apart
    return "%.1f" if column.endswith("(%)") else "%.2f"


def _short(cell: Any) -> Any:
    return f"{cell[:CELL_MAX]}…" if isinstance(cell, str) and len(cell) > CELL_MAX else cell
