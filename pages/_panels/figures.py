"""Charts, each below its question, with the table that says the same beside it."""

from typing import Any

import pandas as pd
import streamlit as st

from pages._panels.table_link import anchor_of
from pages._panels.text import plain
from profcore.charts import Figure
from profcore.charts.highlight import named

TABLE_PX = 330
ROWS_IN_FULL = 8
"""A longer table scrolls inside its own height."""
NAME_PX = 190
ROWS_LISTED_MAX = 1_000
"""Rows that are sent to the browser; a file may hold millions of names."""
CELL_MAX = 5_000
"""Characters of one cell; names in files can be megabytes."""


def figure_panel(figure: Figure, key: str) -> None:
    """Draw one figure."""
    with st.container(key=f"figure_{key}"):
        st.subheader(figure.question, anchor=anchor_of(figure.table) or False)
        if figure.outlined:
            st.markdown(f":material/ink_highlighter: {plain(outlined_words(figure))}")
        left, right = st.columns([3, 2], gap="medium")
        with left:
            _charts(figure, key)
        with right:
            sheet(figure.sheet, name=f"The numbers of: {figure.question}", key=f"table_{key}")
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


def sheet(table: pd.DataFrame, *, name: str, key: str) -> None:
    """Draw a table of numbers that can be sorted.

    Times have two decimals, shares one, rates three digits.
    """
    hidden = len(table) - ROWS_LISTED_MAX
    table = table.head(ROWS_LISTED_MAX).map(_short)
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
    )
    if hidden > 0:
        st.caption(f"The first {ROWS_LISTED_MAX:,} rows; {hidden:,} more are in the CSV file.")


def _format(column: str) -> str:
    if column.endswith("/s)"):
        return "%.3g"  # rates of one sweep may lie a million times apart
    return "%.1f" if column.endswith("(%)") else "%.2f"


def _short(cell: Any) -> Any:
    return f"{cell[:CELL_MAX]}…" if isinstance(cell, str) and len(cell) > CELL_MAX else cell
