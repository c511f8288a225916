"""Where a trace can come from: an upload, a path on this machine, a recorded example."""

import ipaddress
from urllib.parse import urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages._panels.notices import leave_notice
from pages._panels.open_state import expect, get_shelf
from pages._panels.samples import load_samples
from profcore.errors import TraceError
from profcore.opened.arrivals import arrive, point_at

TYPES = ["json", "json.gz", "gz", "zip"]
PATH, SAMPLE = "open_path", "open_sample"
_ROUND = "open_round"


def sources_panel() -> None:
    """Draw the ways in; each leaves the file for the page to read."""
    upload, other = st.columns([1, 1], gap="medium")
    with upload:
        _upload()
    with other:
        if serves_this_machine_alone():
            _path()
        _sample()


def serves_this_machine_alone() -> bool:
    """Tell whether only somebody at this machine can be asking: then paths may be opened.

    The server listens on a loopback address, and the visitor's browser asked for one: behind a
    proxy or under a foreign name the second is not so.
    """
    asked = urlsplit(st.context.url or "").hostname or ""
    forwarded = st.context.headers.get("X-Forwarded-For")
    return _is_loopback(str(st.get_option("server.address") or "")) and (
        _is_loopback(asked) and not forwarded
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _upload() -> None:
    # A new key after each file: the old widget goes, and the server lets go of its file.
    key = f"open_upload_{st.session_state.get(_ROUND, 0)}"
    st.file_uploader(
        "Upload a trace",
        type=TYPES,
        key=key,
        on_change=_take_upload,
        args=(key,),
        help="What torch.profiler's export_chrome_trace wrote, or an archive of such files. It is "
        "read in a process of its own with limits on memory and time.",
    )


def _take_upload(key: str) -> None:
    file = st.session_state.get(key)
    if file is None:
        return
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    shelf = get_shelf()
    shelf.prune()
    try:
        expect(arrive(file, name=file.name, root=shelf.root))
    except TraceError as error:
        leave_notice(str(error))
    finally:
        _let_go(file)


def _let_go(file: UploadedFile) -> None:
    """Have the server drop the bytes of an upload, which it keeps until the session ends."""
    context = get_script_run_ctx()
    if context is not None:
        context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)


def _path() -> None:
    with st.form("open_path_form", border=False):
        words, button = st.columns([5, 2], vertical_alignment="bottom")
        with words:
            st.text_input(
                "Or a file on this machine",
                key=PATH,
                placeholder="/home/me/trace.json.gz",
                help="Read where it lies, without an upload. Only offered when the app serves "
                "this machine alone.",
            )
        with button:
            st.form_submit_button("Open file", key="open_path_button", on_click=_take_path)


def _take_path() -> None:
    if text := str(st.session_state.get(PATH) or "").strip():
        _point_at(text)


def _sample() -> None:
    samples = {sample.id: sample for sample in load_samples()}
    if not samples:
        return
    words, button = st.columns([5, 2], vertical_alignment="bottom")
    with words:
        st.selectbox(
            "Or the trace of a recorded example",
            list(samples),
            format_func=lambda name: samples[name].title if name in samples else name,
            key=SAMPLE,
            help="Opened as a bare trace, as if somebody had sent it to you.",
        )
    with button:
        st.button("Open example", key="open_sample_button", on_click=_take_sample)


def _take_sample() -> None:
    for sample in load_samples():
        if sample.id == st.session_state.get(SAMPLE):
            _point_at(str(sample.trace_path))


def _point_at(path: str) -> None:
    limit_bytes = get_shelf().settings.reader.stored_max_bytes
    try:
        expect(point_at(path, limit_bytes=limit_bytes))
    except TraceError as error:
        leave_notice(str(error))
