// The form works without this: its button shows the preview. With it, the preview follows what is typed.
"use strict";

const form = document.getElementById("entry");
const preview = document.getElementById("preview");
let timer = 0;
let latest = 0;

async function refresh() {
  const number = ++latest;
  const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
  const response = await fetch(address, { credentials: "same-origin" });
  if (!response.ok || number !== latest) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.getElementById("preview");
  if (!fresh || number !== latest) return;
  preview.replaceChildren(...fresh.childNodes);
  preview.dataset.number = String(number);
}

form.addEventListener("input", () => {
  preview.querySelector("form button")?.setAttribute("disabled", ""); // it would save what was typed before
  clearTimeout(timer);
  timer = setTimeout(() => refresh().catch(() => {}), 350); // without a network, the button still works
});
