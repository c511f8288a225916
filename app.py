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
            "pages/open_page.py",
            title="Open a trace",
            icon=":material/upload_file:",
            url_path="open",
            help="Open a trace from any profiler run: numbers, meaning, and what to distrust.",
        ),
        st.Page(
            "pages/timeline_page.py",
            title="Timeline",
            icon=":material/view_timeline:",
            url_path="timeline",
            help="See one step as it happened, from the Python call to the kernel.",
        ),
        st.Page(
            "pages/compare_page.py",
            title="Compare",
            icon=":material/compare_arrows:",
            url_path="compare",
            help="Two runs side by side: what one change did, and whether it is more than noise.",
        ),
        st.Page(
            "pages/sweep_page.py",
            title="Sweep",
            icon=":material/show_chart:",
            url_path="sweep",
            help="Run one experiment over a range of sizes, or in every compile mode.",
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
# Streamlit writes white on a primary button; on the light blue that can be read as text in the dark
# theme that is 2.3:1, this is 7:1 and more. Browsers without light-dark() keep the white.
st.html(
    "<style>button[data-testid='stBaseButton-primary']:enabled "
    "{ color: light-dark(#ffffff, #10222e); }</style>"
)
page.run()
