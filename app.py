"""Router of the app: it names the pages and runs the one that was asked for.

Every `url_path` differs from the page's file name. With equal names a fresh server would run the
file alone, without this one, because a folder named pages/ wakes Streamlit's old page discovery.
"""

import streamlit as st

# Before st.navigation: otherwise the page's Material icon becomes the favicon first, and every
# visitor's browser fetches it from fonts.gstatic.com.
st.set_page_config(page_icon="📈", layout="wide")

page = st.navigation(
    [
        st.Page(
            "pages/run_page.py",
            title="Run",
            icon=":material/play_arrow:",
            url_path="run",
            default=True,
            help="Run one small experiment under the profiler and read where its time goes.",
        ),
        st.Page(
            "pages/timeline_page.py",
            title="Timeline",
            icon=":material/view_timeline:",
            url_path="timeline",
            help="See one step as it happened, from the Python call to the kernel.",
        ),
        st.Page(
            "pages/guide_page.py",
            title="Field guide",
            icon=":material/menu_book:",
            url_path="guide",
            help="How to read a profile: every observation this app looks for, and its meaning.",
        ),
        st.Page(
            "pages/recordings_page.py",
            title="Recordings",
            icon=":material/folder_open:",
            url_path="recordings",
            help="Open, rename or delete earlier runs, and open the recorded examples.",
        ),
    ],
    position="top",
)
st.set_page_config(page_title=f"{page.title} · profcore")  # one tab title per page
page.run()
