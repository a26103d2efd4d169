// Drives one page in a headless Chromium. Reads a JSON command a line, and answers each with a JSON line.
const { createInterface } = require("node:readline");
const { chromium } = require("playwright-core");

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const TIMEOUT_MS = 45000;

async function openPage(executablePath) {
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const page = await browser.newPage({ viewport: { width: 1300, height: 1000 } });
  page.setDefaultTimeout(TIMEOUT_MS);
  // The page asks for files at a CDN; it works without them.
  await page.route((url) => url.hostname !== "127.0.0.1", (route) => route.abort());
  return { browser, page };
}

const locate = (page, target) => {
  const found = target.role
    ? page.getByRole(target.role, { name: target.name, exact: target.exact ?? true })
    : page.locator(target.selector);
  return target.last ? found.last() : found.first();
};

const COMMANDS = {
  open: (page, { url }) => page.goto(url, { waitUntil: "domcontentloaded" }),
  click: (page, { target }) => locate(page, target).click(),
  hover: (page, { target }) => locate(page, target).hover(),
  fill: (page, { target, text }) => locate(page, target).fill(text),
  type: (page, { text }) => page.keyboard.type(text),
  press: (page, { key }) => page.keyboard.press(key),
  evaluate: (page, { script }) => page.evaluate(script),
  wait: (page, { script }) => page.waitForFunction(script, undefined, { polling: 100 }).then(() => true),
  resize: (page, { width, height }) => page.setViewportSize({ width, height }),
  picture: (page, { path, target, clip }) =>
    (target ? locate(page, target) : page).screenshot({ path, clip, animations: "disabled" }).then(() => true),
};

async function main() {
  const { browser, page } = await openPage(process.argv[2]);
  console.log(JSON.stringify({ result: "ready" }));
  for await (const line of createInterface({ input: process.stdin })) {
    const { command, ...fields } = JSON.parse(line);
    try {
      const result = await COMMANDS[command](page, fields);
      console.log(JSON.stringify({ result: command === "evaluate" ? result ?? null : null }));
    } catch (error) {
      console.log(JSON.stringify({ error: String(error) }));
    }
  }
  await browser.close();
}

main();
