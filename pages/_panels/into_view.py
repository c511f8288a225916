"""Bring a part of the page into view after a click whose effect would lie outside it."""

import streamlit as st

RESULT, KNOBS = "#result", ".st-key-setup"
"""CSS selectors: the heading of the recording on show, and the knobs."""

_ASKED, _COUNT, _SHOWN = "into_view", "into_view_count", "into_view_recording"

_SCRIPT = """<script>
{{  // request {count}; a block, since the next one declares the same names
  const page = document.querySelector("[data-testid=stMainBlockContainer]");
  // Whoever is at the knobs while a run ends stays there; the Run button is not one of them.
  const at = document.activeElement;
  const isBusy = {waits_for_knobs} && at?.closest(".st-key-setup") !== null
    && at?.closest(".st-key-run_button") === null;
  const show = () => {{
    const place = document.querySelector("{selector}");  // it may still have to be drawn
    if (!place) return;
    place.style.scrollMarginTop = "4.5rem";  // below the menu, which stays on top
    place.scrollIntoView({{ block: "start" }});
    if (document.activeElement === document.body) {{
      place.querySelector("button")?.focus({{ preventScroll: true }});
    }}
  }};
  // Charts change their height while they are drawn; whoever scrolls is not held back.
  const drawn = new ResizeObserver(show);
  if (page && !isBusy) drawn.observe(page);
  const stop = () => drawn.disconnect();
  for (const move of ["wheel", "touchstart", "pointerdown", "keydown"]) {{
    window.addEventListener(move, stop, {{ once: true, passive: true }});
  }}
  setTimeout(stop, 3000);
}}
</script>"""


def bring_into_view(selector: str) -> None:
    """Ask for a part of the page to be in view when the page is drawn next.

    Args:
        selector: CSS selector, written in this program: it becomes part of a script.
    """
    st.session_state[_ASKED] = selector
    st.session_state[_COUNT] = st.session_state.get(_COUNT, 0) + 1


def bring_new_recording_into_view(recording_id: str) -> None:
    """Show a recording that was not on show before: the knobs above it fill a screen."""
    if recording_id and st.session_state.get(_SHOWN) != recording_id:
        bring_into_view(RESULT)
    st.session_state[_SHOWN] = recording_id


def is_asked() -> bool:
    """Tell whether something waits to be brought into view."""
    return _ASKED in st.session_state


def do_as_asked() -> None:
    """Draw nothing that is seen; once per request. Not in a fragment."""
    if selector := st.session_state.pop(_ASKED, ""):
        script = _SCRIPT.format(
            count=st.session_state[_COUNT],
            selector=selector,
            waits_for_knobs="true" if selector == RESULT else "false",
        )
        st.html(script, unsafe_allow_javascript=True)
