"""Hand a trace over to Perfetto in the visitor's own browser.

Perfetto's documented protocol: open its page, send "PING" until it answers "PONG", then send the
trace as bytes. The trace goes from this server to the visitor's browser and from there to the
opened tab; no other server gets it.
"""

import gzip
import json
import os
from urllib.parse import urlsplit

import streamlit as st

from pages._panels.text import plain
from profcore.errors import ProfcoreError
from profcore.recording import Recording
from profcore.trace import perfetto
from profcore.units import bytes_text

ORIGIN_VARIABLE = "PROFCORE_PERFETTO_ORIGIN"
DEFAULT_ORIGIN = "https://ui.perfetto.dev"
STORED_MAX_BYTES = 64 * 1024**2
"""Compressed bytes that are sent through the page's connection; larger files are downloaded."""
KEY = "perfetto"
_WANTED = "perfetto_wanted"

_HTML = """
<button type="button" class="open"></button>
<p class="state" role="status"></p>
"""

_CSS = """
button {
  font: inherit; color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius, 0.5rem);
  min-height: 2.5rem; padding: 0.25rem 0.75rem; cursor: pointer;
}
button:hover, button:focus-visible {
  border-color: var(--st-primary-color); color: var(--st-primary-color);
}
button:disabled { opacity: 0.5; cursor: default; }
p { font: inherit; font-size: 0.875rem; margin: 0.25rem 0 0; color: var(--st-text-color); }
p:empty { display: none; }
"""

_JS = """
const tabs = new Map();  // from the key of the component to the opened tab and its timer
const PING_MS = 100;
const GIVE_UP_MS = 60000;

function handOver(key, header, payload, say) {
  const tab = tabs.get(key);
  if (!tab || tab.done) return;
  tab.done = true;
  const begun = Date.now();
  const stop = (words) => {
    clearInterval(timer);
    window.removeEventListener("message", onAnswer);
    say(words);
  };
  const onAnswer = (event) => {
    if (event.source !== tab.window || event.origin !== header.origin) return;
    if (event.data !== "PONG") return;
    const buffer = payload.slice().buffer;
    const trace = { buffer, title: header.title, fileName: header.file };
    tab.window.postMessage({ perfetto: trace }, header.origin);
    stop("Handed over. Perfetto shows it in its own tab.");
  };
  window.addEventListener("message", onAnswer);
  const timer = setInterval(() => {
    if (tab.window.closed) return stop("The tab was closed before Perfetto was ready.");
    if (Date.now() - begun > GIVE_UP_MS) {
      return stop("Perfetto did not answer. Download the file and drop it there instead.");
    }
    tab.window.postMessage("PING", header.origin);
  }, PING_MS);
}

export default function (component) {
  const { data, key, parentElement, setTriggerValue } = component;
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  const end = bytes.indexOf(10);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  const payload = bytes.subarray(end + 1);
  const button = parentElement.querySelector(".open");
  const state = parentElement.querySelector(".state");
  const say = (words) => { state.textContent = words; };
  button.textContent = header.label;
  button.disabled = header.disabled;
  button.onclick = () => {
    const opened = window.open(header.origin);
    if (!opened) {
      say("The browser did not allow a new tab. Allow it for this page, or download the file.");
      return;
    }
    tabs.set(key, { window: opened, done: false });
    say("Getting the trace ready ...");
    // A second time the trace is already here.
    if (payload.length) handOver(key, header, payload, say);
    else setTriggerValue("asked", Date.now());
  };
  if (header.problem) say(header.problem);
  if (payload.length) handOver(key, header, payload, say);
}
"""

_COMPONENT = st.components.v2.component("profcore_perfetto", html=_HTML, css=_CSS, js=_JS)


def origin() -> str:
    """Return where Perfetto lives: PROFCORE_PERFETTO_ORIGIN, else its public page.

    What is not an http address is passed over.
    """
    asked = urlsplit(os.environ.get(ORIGIN_VARIABLE, ""))
    if asked.scheme in {"http", "https"} and asked.netloc:
        return f"{asked.scheme}://{asked.netloc}"
    return DEFAULT_ORIGIN


@st.fragment
def perfetto_panel(recording: Recording) -> None:
    """Draw the button that hands the trace over, and the download beside it."""
    st.subheader("Every event, in Perfetto", anchor=False)
    stored_bytes = _stored_bytes(recording)
    fits = stored_bytes <= STORED_MAX_BYTES
    payload, problem = b"", ""
    if st.session_state.pop(_WANTED, None) == recording.id and fits:
        try:
            payload = _packed(recording, recording.id, stored_bytes)
        except ProfcoreError as error:
            problem = str(error)
    header = {
        "origin": origin(),
        "label": "Open in Perfetto",
        "title": f"{recording.title} (profcore)",
        "file": f"profcore-{recording.id}.json.gz",
        "disabled": not fits,
        "problem": problem,
    }
    with st.container(horizontal=True, vertical_alignment="top"):
        _COMPONENT(
            key=KEY,
            data=json.dumps(header).encode() + b"\n" + payload,
            width="content",
            on_asked_change=lambda: st.session_state.update({_WANTED: recording.id}),
        )
        st.download_button(
            "Download the trace",
            recording.trace_path.read_bytes,
            f"profcore-{recording.id}.trace.json.gz",
            key="perfetto_download",
            on_click="ignore",
            icon=":material/download:",
        )
    host = urlsplit(origin()).netloc
    st.caption(
        f"Opens {plain(host)} in a new tab and gives it the trace inside your browser: it is "
        "uploaded nowhere. Rows that overlap on one thread get a thread of their own first, "
        "because Perfetto would leave them out."
    )
    if not fits:
        st.caption(
            f"This trace has {bytes_text(stored_bytes)}; up to {bytes_text(STORED_MAX_BYTES)} can "
            "be handed over. Download it and drop it on Perfetto's page."
        )


def _stored_bytes(recording: Recording) -> int:
    try:
        return recording.trace_path.stat().st_size
    except OSError:
        return 0  # opening it says what is wrong


@st.cache_data(show_spinner="Getting the trace ready ...", max_entries=2)
def _packed(_recording: Recording, recording_id: str, stored_bytes: int) -> bytes:
    del recording_id, stored_bytes  # they are the key
    return gzip.compress(perfetto.for_perfetto(_recording.trace_path).text, compresslevel=1)
