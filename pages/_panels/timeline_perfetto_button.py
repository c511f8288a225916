"""The button in the visitor's browser that hands a trace over to Perfetto.

Perfetto's documented protocol: open its page, send "PING" until it answers "PONG", then send the
trace as bytes. The trace goes from this server to the visitor's browser and from there to the
opened tab; no other server gets it.
"""

import streamlit as st

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

COMPONENT = st.components.v2.component("profcore_perfetto", html=_HTML, css=_CSS, js=_JS)
"""Takes bytes: one line of JSON (origin, label, title, file, disabled, problem), then the trace, or
nothing as long as it was not asked for. Its trigger is `asked`."""
