"""Two runs side by side: what one change did, with the noise beside it."""

import streamlit as st

from pages._panels.compare_pick import pick, suggestions
from pages._panels.compare_result import show_comparison
from pages._panels.notices import show_notice
from pages._panels.runner import get_library

st.title("Compare two runs", anchor=False)
st.caption(
    "Change one setting, keep all others, and see what it did: to the step time, to the kernels, "
    "and whether the difference is more than noise."
)
library = get_library()
show_notice()
a, b = pick(library)
if a and b:
    show_comparison(a, b, library)
else:
    if a:
        st.caption("Now choose what to compare it with.")
    suggestions(a, library)
