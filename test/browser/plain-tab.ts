/** A tab of a phone, in which no script has to run: what it does is typed and pressed, what it shows is read from its document. */
import { setTimeout as pause } from "node:timers/promises";
import type { Chromium } from "./chromium.ts";

/** Of a small phone, in CSS pixels. */
const PHONE = { width: 360, height: 740, deviceScaleFactor: 2, mobile: true };

/** Many times what a page on loopback takes. */
const LOAD_MS = 60_000;

export interface PlainTab {
  /** What the browser complained about: refusals of the policy, answers that are errors. */
  readonly complaints: readonly string[];
  /** Every request that left the tab, as it was sent. */
  readonly requests: readonly { readonly url: string; readonly headers: Readonly<Record<string, string>> }[];
  goTo(url: string): Promise<void>;
  /** What the browser shows as the page's address, with its fragment. */
  address(): Promise<string>;
  /** Into the field of this name. */
  type(name: string, text: string): Promise<void>;
  /** Presses Enter on what the selector names, and waits for the page that comes. */
  pressOn(selector: string): Promise<void>;
  /** The document as it stands, as HTML. */
  document(): Promise<string>;
  /** How wide the page's content is, in CSS pixels. */
  contentWidth(): Promise<number>;
  /** PNG. */
  screenshot(): Promise<Uint8Array>;
  readonly width: number;
}

export async function openPlainTab(
  { devtools }: Chromium,
  { runsScripts }: { readonly runsScripts: boolean },
): Promise<PlainTab> {
  const { targetId } = await devtools.call("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await devtools.call("Target.attachToTarget", { targetId, flatten: true });
  const session = String(sessionId);
  const call = (method: string, params: object = {}) => devtools.call(method, params, session);
  const complaints: string[] = [];
  const requests: { url: string; headers: Record<string, string> }[] = [];
  const urls = new Map<unknown, string>();
  let loads = 0;
  devtools.onEvent(({ method, params, sessionId: from }) => {
    if (from !== session) return;
    if (method === "Page.loadEventFired") loads += 1;
    if (method === "Log.entryAdded") {
      const { level, text } = params["entry"] as { readonly level: string; readonly text: string };
      // Verbose ones are recommendations.
      if (level !== "verbose") complaints.push(text);
    }
    if (method === "Network.requestWillBeSent")
      urls.set(params["requestId"], (params["request"] as { readonly url: string }).url);
    if (method === "Network.requestWillBeSentExtraInfo")
      requests.push({
        url: urls.get(params["requestId"]) ?? "",
        headers: params["headers"] as Record<string, string>,
      });
  });
  for (const domain of ["Page", "Log", "Network", "DOM"]) await call(`${domain}.enable`);
  await call("Emulation.setScriptExecutionDisabled", { value: !runsScripts });
  await call("Emulation.setDeviceMetricsOverride", PHONE);
  const waitForLoad = async (before: number): Promise<void> => {
    const deadline = performance.now() + LOAD_MS;
    while (loads === before) {
      if (performance.now() > deadline) throw new Error("no page came");
      await pause(20);
    }
  };
  const focus = async (selector: string): Promise<void> => {
    const { root } = await call("DOM.getDocument");
    const { nodeId } = await call("DOM.querySelector", { nodeId: (root as { nodeId: number }).nodeId, selector });
    if (nodeId === 0) throw new Error(`the page has no ${selector}`);
    await call("DOM.focus", { nodeId });
  };
  return {
    complaints,
    requests,
    width: PHONE.width,
    async goTo(url) {
      const before = loads;
      await call("Page.navigate", { url });
      await waitForLoad(before);
    },
    async address() {
      const { currentIndex, entries } = await call("Page.getNavigationHistory");
      return (entries as readonly { readonly url: string }[])[Number(currentIndex)]?.url ?? "";
    },
    async type(name, text) {
      await focus(`[name="${name}"]`);
      await call("Input.insertText", { text });
    },
    async pressOn(selector) {
      const before = loads;
      await focus(selector);
      const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13 };
      await call("Input.dispatchKeyEvent", { type: "keyDown", text: "\r", ...enter });
      await call("Input.dispatchKeyEvent", { type: "keyUp", ...enter });
      await waitForLoad(before);
    },
    async document() {
      const { root } = await call("DOM.getDocument");
      const { outerHTML } = await call("DOM.getOuterHTML", { nodeId: (root as { nodeId: number }).nodeId });
      return String(outerHTML);
    },
    async contentWidth() {
      const { cssContentSize } = await call("Page.getLayoutMetrics");
      return (cssContentSize as { readonly width: number }).width;
    },
    async screenshot() {
      const { data } = await call("Page.captureScreenshot", { format: "png" });
      return Buffer.from(String(data), "base64");
    },
  };
}
