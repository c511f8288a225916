"""From a line of the verdict's arithmetic to the table on the same page that it rests on."""

from pages._panels.text import plain

_HEADINGS = {
    "steps": "table-steps",
    "operators": "table-operators",
    "activities": "table-activities",
    "timings": "table-timings",
    "device": "table-setting",
    "experiment": "table-setting",
}
"""Table -> anchor of the heading above it. A bare trace has no timings and no setting, and its
verdict names none."""


def anchor_of(table: str) -> str | None:
    """Return the anchor of the heading above a table; None: nothing leads there."""
    return _HEADINGS.get(table)


def table_link(table: str) -> str:
    """Return Markdown that names a table and leads to it."""
    anchor = anchor_of(table)
    return plain(table) if anchor is None else f"[{plain(table)}](#{anchor})"
