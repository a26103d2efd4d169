// The page works without this: forms post and the page comes back. With it, messages arrive as they are said.
"use strict";

const log = document.getElementById("log");
const composer = document.getElementById("composer");
const text = document.getElementById("text");
const state = document.getElementById("status");
const here = new URL(window.location.href);

composer.elements.time_zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "";

function nearEnd() {
  const page = document.documentElement;
  return page.scrollHeight - page.scrollTop - page.clientHeight < 160;
}

function place(id, html) {
  const holder = document.createElement("template");
  holder.innerHTML = html; // rendered and escaped by the server, same origin
  const fresh = holder.content.firstElementChild;
  const old = document.getElementById(id);
  const follow = nearEnd();
  const welcome = log.querySelector(".welcome");
  if (welcome) welcome.remove();
  if (!old) {
    log.append(fresh);
  } else {
    const hadFocus = old.contains(document.activeElement);
    old.replaceWith(fresh);
    if (hadFocus) text.focus({ preventScroll: true }); // what had it is gone
  }
  localTimes(fresh);
  if (!follow) return;
  const top = fresh.getBoundingClientRect().height > window.innerHeight * 0.7;
  fresh.scrollIntoView({ block: top ? "start" : "end" });
  if (!top) window.scrollTo(0, document.documentElement.scrollHeight);
}

function localTimes(root) {
  for (const time of root.querySelectorAll("time")) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.valueOf())) {
      time.textContent = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    }
  }
}

function listen() {
  const address = new URL("/chat/events", here);
  address.searchParams.set("c", log.dataset.conversation);
  address.searchParams.set("after", log.dataset.revision);
  const events = new EventSource(address);
  events.addEventListener("message", (event) => {
    const message = JSON.parse(event.data);
    log.dataset.revision = event.lastEventId;
    place(message.id, message.html);
  });
  events.addEventListener("open", () => { state.textContent = ""; });
  events.addEventListener("error", () => {
    state.textContent = "The connection was lost; trying again …";
    if (events.readyState === EventSource.CLOSED) window.setTimeout(listen, 3000);
  });
}

async function post(fields) {
  fields.set("event", composer.elements.event.value);
  fields.set("time_zone", composer.elements.time_zone.value);
  let answer;
  try {
    answer = await fetch(here, { method: "POST", body: fields, headers: { Accept: "application/json" } });
  } catch {
    state.textContent = "Parley cannot be reached. What you wrote is still in the field.";
    return false;
  }
  const said = await answer.json().catch(() => ({ error: "Something went wrong here; please send it again." }));
  state.textContent = answer.ok ? "" : said.error;
  if (answer.ok) composer.elements.event.value = said.event;
  return answer.ok;
}

function fit() {
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight}px`;
}

composer.addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = text.value;
  const send = composer.querySelector("button");
  if (!said.trim() || send.disabled) return;
  send.disabled = true;
  if (await post(new URLSearchParams({ text: said }))) {
    text.value = "";
    fit();
    window.scrollTo(0, document.documentElement.scrollHeight);
  }
  send.disabled = false;
  text.focus();
});

text.addEventListener("input", fit);
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    composer.requestSubmit();
  }
});

log.addEventListener("submit", async (event) => {
  event.preventDefault();
  const pressed = event.submitter;
  const buttons = [...event.target.querySelectorAll("button")];
  pressed.setAttribute("aria-pressed", "true");
  for (const button of buttons) button.disabled = true;
  const isPosted = await post(new URLSearchParams({ [pressed.name]: pressed.value }));
  if (isPosted) text.focus({ preventScroll: true }); // a disabled button holds no focus, and a choice will be gone
  if (!isPosted || pressed.name === "save") {
    pressed.removeAttribute("aria-pressed");
    for (const button of buttons) button.disabled = false;
    if (!isPosted) pressed.focus();
  }
});

localTimes(log);
listen();
if (log.querySelector("article:not(.welcome)")) window.scrollTo(0, document.documentElement.scrollHeight);
