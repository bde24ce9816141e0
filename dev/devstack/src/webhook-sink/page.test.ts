/** The page in a real browser, where this machine has one. */
import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findChromium, requireChromium, startChromium } from "../../../../test/browser/chromium.ts";
import { openTab, type Tab } from "../../../../test/browser/page.ts";
import { openRelay } from "../../../../test/browser/relay.ts";
import { startWebhookSink, type WebhookSink } from "./sink.ts";
import { deliver, fileEvent, SECRET } from "./deliveries.test-kit.ts";

const EVIL = `<img src=x onerror="document.title='broken'"></script><script>document.title='broken'</script>\u202e\u0007`;

describe("the page of the webhook sink", () => {
  const cleanup = new AsyncDisposableStack();
  let sink: WebhookSink;
  let page: Tab;

  beforeAll(async () => {
    sink = await startWebhookSink();
    sink.trust(SECRET);
    await deliver(sink.hookUrl, fileEvent());
    const program = findChromium();
    if (program === null) return;
    const relay = cleanup.use(await openRelay([sink.pageUrl]));
    page = await openTab(cleanup.use(await startChromium(program, relay.url)), sink.pageUrl);
    await until(items(1));
  });

  beforeEach(requireChromium);

  afterAll(async () => {
    await cleanup.disposeAsync();
    await sink.close();
  });

  /** Asks again and again. */
  const until = async (expression: string): Promise<void> => {
    while (!(await page.evaluate<boolean>(`Boolean(${expression})`))) await pause(20);
  };
  const press = async (key: "Tab" | "Enter"): Promise<void> => {
    const code = { Tab: 9, Enter: 13 }[key];
    const text = key === "Enter" ? { type: "keyDown", text: "\r" } : { type: "rawKeyDown" };
    await page.call("Input.dispatchKeyEvent", { key, windowsVirtualKeyCode: code, ...text });
    await page.call("Input.dispatchKeyEvent", { key, windowsVirtualKeyCode: code, type: "keyUp" });
  };

  const items = (count: number): string =>
    `document.querySelectorAll("#list > li:not([hidden])").length === ${String(count)}`;
  const textOf = (selector: string): Promise<string> =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`);
  const change = (id: string, assignment: string): Promise<unknown> =>
    page.evaluate(
      `(${id} => { ${id}.${assignment}; ${id}.dispatchEvent(new Event("change")); })(document.getElementById("${id}"))`,
    );
  const tally = (words: string): Promise<void> => until(`document.body.textContent.includes(${JSON.stringify(words)})`);

  it("shows what was there and what arrives, newest first, verified or with what is wrong", async () => {
    await deliver(sink.hookUrl, fileEvent("file.trashed"));
    await deliver(sink.hookUrl, fileEvent(), { headers: {} });
    await until(items(3));
    await tally("3 deliveries: 2 verified, 1 failed");
    expect(await textOf("#connection")).toBe("live");
    const badges = await page.evaluate<string>(
      `Array.from(document.querySelectorAll(".badge"), (one) => one.textContent).join()`,
    );
    expect(badges).toBe("✗ failed,✓ verified,✓ verified");
    expect(await textOf(".problem")).toContain("missing_header");
  });

  it("filters by kind and by what failed", async () => {
    await change("kind", 'value = "file.trashed"');
    await until(items(1));
    await change("failed", "checked = true");
    await until(items(0));
    await until(`!document.getElementById("empty").hidden`);
    await change("kind", 'value = ""');
    await until(items(1));
    await change("failed", "checked = false");
    await until(items(3));
  });

  it("opens a delivery by keyboard and shows its payload and headers", async () => {
    await page.evaluate(`document.getElementById("answer").focus()`);
    await press("Tab");
    expect(await page.evaluate("document.activeElement.tagName")).toBe("SUMMARY");
    await press("Tab");
    await press("Enter");
    await until(`document.querySelector("details[open] pre") !== null`);
    expect(JSON.parse(await textOf("details[open] pre"))).toMatchObject({ type: "file.trashed" });
    expect(await textOf("details[open] dl")).toContain("webhook-signature");
    await press("Enter");
    await until(`document.querySelector("details[open]") === null`);
  });

  it("shows whatever a delivery holds as text", async () => {
    const payload = { type: EVIL, [EVIL]: EVIL };
    await deliver(sink.hookUrl, payload);
    await deliver(sink.hookUrl, EVIL, { headers: { "webhook-id": "<b>x</b>", "x-evil": "<i>y</i>" } });
    await until(items(5));
    await page.evaluate(`document.querySelectorAll("details").forEach((one) => { one.open = true; })`);
    await until(`document.querySelectorAll("pre").length === 5`);
    expect(await page.evaluate("document.title")).toBe("Webhook deliveries");
    expect(await page.evaluate(`document.querySelectorAll("img, i, b, main script").length`)).toBe(0);
    expect(await textOf("#list")).toContain("\\u{202e}");
    await page.evaluate(`document.querySelectorAll("details").forEach((one) => { one.open = false; })`);
  });

  it("tells the sink what to answer", async () => {
    await change("answer", 'value = "500"');
    while ((await deliver(sink.hookUrl, fileEvent())).status !== 500) await page.evaluate("0");
    sink.answerWith("204");
  });

  it("fits a narrow window, and has contrast in the light and in the dark", async () => {
    for (const scheme of ["light", "dark"] as const) {
      for (const width of [400, 1000]) {
        const features = [{ name: "prefers-color-scheme", value: scheme }];
        await page.call("Emulation.setEmulatedMedia", { features });
        const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: false };
        await page.call("Emulation.setDeviceMetricsOverride", metrics);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        keepScreenshot(`${scheme}-${String(width)}`, (await page.call("Page.captureScreenshot"))["data"]);
      }
      // WCAG 2.2 §1.4.3: 4.5 to 1.
      for (const ratio of await page.evaluate<number[]>(CONTRASTS)) expect(ratio).toBeGreaterThanOrEqual(4.5);
    }
  });

  it("says when the sink is gone, and nothing was blocked or broke on the way", async () => {
    expect(page.complaints).toEqual([]);
    await sink.close();
    await until(`document.getElementById("connection").dataset.state === "away"`);
  });
});

/** For people who change the page: COFFER_SCREENSHOTS names a folder. */
function keepScreenshot(name: string, base64: unknown): void {
  const folder = process.env["COFFER_SCREENSHOTS"];
  if (folder !== undefined) writeFileSync(`${folder}/webhook-sink-${name}.png`, String(base64), "base64");
}

/** The contrast of each kind of text with what lies behind it (WCAG 2.2, "contrast ratio"). */
const CONTRASTS = `(() => {
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((value) => value / 255).map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    const color = parse(getComputedStyle(element).backgroundColor);
    return color[3] === 0 && element.parentElement !== null ? behind(element.parentElement) : color;
  };
  return [...document.querySelectorAll("h1, #counts, .badge.good, .badge.bad, .kind, time, .quiet, .problem, select, label")].map((element) => {
    const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(behind(element))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  });
})()`;
