/**
 * What runs in a host's sandboxed frame (MCP Apps, 2026-01-26). page.ts writes these functions into a document as they are, so each uses
 * nothing but the others and the browser. Text of others becomes text of the document, never markup.
 */

type Facts = Readonly<Record<string, unknown>>;

interface ViewHost {
  request(method: string, params: object): Promise<Facts>;
  notify(method: string, params: object): void;
  /** Passes on each later notification of the host. */
  on(method: string, listener: (params: Facts) => void): void;
}

/** JSON-RPC with the frame's parent. Messages of any other window are ignored. */
export function connectHost(): ViewHost {
  const pendingRequests = new Map<unknown, { resolve: (result: Facts) => void; reject: (reason: Error) => void }>();
  const listeners = new Map<unknown, (params: Facts) => void>();
  let last = 0;
  const send = (message: object): void => {
    window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  };
  window.addEventListener("message", ({ source, data }: MessageEvent<unknown>) => {
    if (source !== window.parent || typeof data !== "object" || data === null) return;
    const { id, method, params, result, error } = data as Facts;
    if (method !== undefined) {
      listeners.get(method)?.((params ?? {}) as Facts);
      if (id !== undefined) send({ id, result: {} });
      return;
    }
    const pending = pendingRequests.get(id);
    pendingRequests.delete(id);
    if (error === undefined) pending?.resolve((result ?? {}) as Facts);
    else pending?.reject(new Error(textOf((error as Facts)["message"])));
  });
  return {
    request: (method, params) =>
      new Promise((resolve, reject) => {
        last += 1;
        pendingRequests.set(last, { resolve, reject });
        send({ id: last, method, params });
      }),
    notify: (method, params) => {
      send({ method, params });
    },
    on: (method, listener) => {
      listeners.set(method, listener);
    },
  };
}

/** The theme of the host, and its colours where they are plain ones: nothing that loads. */
export function applyContext(context: Facts): void {
  const { theme, styles } = context as { theme?: unknown; styles?: { variables?: Facts } };
  if (theme === "light" || theme === "dark") document.documentElement.style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {}))
    if (/^--[a-z0-9-]+$/.test(name) && typeof value === "string" && !/url\(|image|@import/i.test(value))
      document.documentElement.style.setProperty(name, value);
}

export function element(tag: string, className: string, text = ""): HTMLElement {
  const created = document.createElement(tag);
  created.className = className;
  created.textContent = text;
  return created;
}

export function button(className: string, text: string, act: () => void): HTMLElement {
  const created = element("button", className, text);
  created.addEventListener("click", act);
  return created;
}

export function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** A text without the marks of its answer, which are for models. */
export function unmarked(facts: Facts, value: unknown): string {
  const nonce = /<([\w-]{8})>/.exec(textOf(facts["fence"]))?.[1];
  const text = textOf(value);
  return nonce === undefined ? text : text.replaceAll(`<${nonce}>`, "").replaceAll(`</${nonce}>`, "");
}

export function rowsOf(facts: Facts): Facts[] {
  const columns = Array.isArray(facts["columns"]) ? (facts["columns"] as string[]) : [];
  const rows = Array.isArray(facts["files"]) ? (facts["files"] as unknown[][]) : [];
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])));
}

export function sizeText(bytes: unknown): string {
  if (typeof bytes !== "number") return "";
  const units = ["B", "KB", "MB", "GB", "TB"];
  const at = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** at).toFixed(at === 0 ? 0 : 1)} ${units[at] ?? ""}`;
}

/** In the words and the zone of the person who looks. */
export function timeText(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  return date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** What a tool answered: its facts, its text, and whether it failed. */
export function answerIn(result: Facts): { facts: Facts; text: string; error: Facts | null } {
  const facts = (result["structuredContent"] ?? {}) as Facts;
  const [first] = (result["content"] ?? []) as { text?: string }[];
  return {
    facts,
    text: first?.text ?? "",
    error: result["isError"] === true ? ((facts["error"] ?? {}) as Facts) : null,
  };
}

export function showFailure(into: HTMLElement, facts: Facts, error: Facts): void {
  into.replaceChildren(
    element("p", "bad", unmarked(facts, error["message"])),
    element("p", "quiet", unmarked(facts, error["nextStep"])),
  );
}

interface Crumb {
  readonly name: string;
  readonly args: Facts;
}

/** Browses folders: one table for each, with the way back above it. */
export function startFiles(host: ViewHost, main: HTMLElement): void {
  const trail: Crumb[] = [{ name: "All files", args: {} }];
  const path = element("nav", "path");
  const table = element("div", "rows");
  main.replaceChildren(path, table);
  const show = (result: Facts, isMore: boolean): void => {
    const { facts, error } = answerIn(result);
    path.replaceChildren(...trail.map((crumb, at) => button("crumb", crumb.name, () => go(at, crumb))));
    if (error !== null) {
      showFailure(table, facts, error);
      return;
    }
    const vaultId = facts["vaultId"];
    const lines = rowsOf(facts).map((row) => fileLine(facts, row, open(row, vaultId, facts)));
    if (isMore) table.lastElementChild?.remove();
    else table.replaceChildren();
    table.append(...lines);
    if (table.children.length === 0) table.append(element("p", "quiet", "Nothing is here."));
    if (typeof facts["nextCursor"] === "string") table.append(button("more", "Show more", more(facts["nextCursor"])));
  };
  const call = async (args: Facts, isMore: boolean): Promise<void> => {
    main.classList.add("busy");
    const request = host.request("tools/call", { name: "file_list", arguments: args });
    const result = await request.catch((reason: unknown) => ({
      isError: true,
      structuredContent: { error: { message: String(reason), nextStep: "Ask for the folder in the conversation." } },
    }));
    main.classList.remove("busy");
    show(result, isMore);
  };
  const go = (at: number, crumb: Crumb): void => {
    trail.length = at + 1;
    void call(crumb.args, false);
  };
  const more = (cursor: string) => (): void => void call({ ...trail.at(-1)?.args, cursor }, true);
  const open = (row: Facts, vaultId: unknown, facts: Facts): (() => void) | null => {
    const name = unmarked(facts, row["name"]);
    if (!name.endsWith("/")) return null;
    const vault = vaultId ?? row["vaultId"];
    const args = { folder: row["id"], ...(vault === undefined || vault === null ? {} : { vaultId: vault }) };
    return () => {
      trail.push({ name: name.slice(0, -1), args });
      void call(args, false);
    };
  };
  host.on("ui/notifications/tool-input", ({ arguments: args }) => {
    trail[0] = { name: "All files", args: (args ?? {}) as Facts };
  });
  host.on("ui/notifications/tool-result", (result) => {
    show(result, false);
  });
}

export function fileLine(facts: Facts, row: Facts, open: (() => void) | null): HTMLElement {
  const line = open === null ? element("div", "row") : button("row folder", "", open);
  const name = unmarked(facts, row["name"]);
  line.append(
    element("span", "sign", open === null ? "▤" : "▸"),
    element("span", "name", open === null ? name : name.slice(0, -1)),
    element("span", "size", sizeText(row["bytes"])),
    element("span", "time", timeText(unmarked(facts, row["modified"]))),
  );
  return line;
}

/** Shows what would happen, and takes a yes where the host cannot ask by itself. */
export function startConsent(host: ViewHost, main: HTMLElement, tool: string): void {
  let args: Facts = {};
  const agree = (confirm: string) => async (): Promise<void> => {
    main.classList.add("busy");
    const request = host.request("tools/call", { name: tool, arguments: { ...args, confirm } });
    const result = await request.catch((reason: unknown) => ({
      isError: true,
      structuredContent: { error: { message: String(reason), nextStep: "Answer in the conversation." } },
    }));
    main.classList.remove("busy");
    show(result);
  };
  const show = (result: Facts): void => {
    const { facts, text, error } = answerIn(result);
    if (error === null) {
      main.replaceChildren(element("h1", "good", "Done"), element("p", "", text.split("\n")[0]));
      return;
    }
    if (typeof error["preview"] !== "string") {
      showFailure(main, facts, error);
      main.prepend(element("h1", "bad", "Not done"));
      return;
    }
    main.replaceChildren(element("h1", "", "Do you agree?"), element("p", "preview", error["preview"]));
    const { confirm } = error;
    if (typeof confirm !== "string" || tool === "") {
      main.append(element("p", "quiet", unmarked(facts, error["nextStep"])));
      return;
    }
    const decline = (): void => {
      main.replaceChildren(element("h1", "", "Declined"), element("p", "quiet", "Nothing was done."));
    };
    const choice = element("div", "choice");
    choice.append(
      button("", "Decline", decline),
      button("yes", "Agree", () => void agree(confirm)()),
    );
    main.append(choice);
  };
  host.on("ui/notifications/tool-input", ({ arguments: sent }) => {
    args = (sent ?? {}) as Facts;
  });
  host.on("ui/notifications/tool-result", show);
  host.on("ui/notifications/tool-cancelled", () => {
    main.replaceChildren(element("h1", "", "Cancelled"), element("p", "quiet", "Nothing was done."));
  });
}

/** Greets the host, and reports the height of the content. */
export async function startView(kind: "files" | "consent"): Promise<void> {
  const host = connectHost();
  const main = document.querySelector("main") ?? document.body;
  host.on("ui/notifications/host-context-changed", applyContext);
  const greeting = await host.request("ui/initialize", {
    appInfo: { name: `coffer-${kind}`, version: "1.0.0" },
    protocolVersion: "2026-01-26",
    appCapabilities: { availableDisplayModes: ["inline"] },
  });
  const context = (greeting["hostContext"] ?? {}) as Facts;
  applyContext(context);
  const { toolInfo } = context as { toolInfo?: { tool?: { name?: string } } };
  if (kind === "files") startFiles(host, main);
  else startConsent(host, main, toolInfo?.tool?.name ?? "");
  host.notify("ui/notifications/initialized", {});
  new ResizeObserver(() => {
    const { width, height } = document.documentElement.getBoundingClientRect();
    host.notify("ui/notifications/size-changed", { width: Math.ceil(width), height: Math.ceil(height) });
  }).observe(document.documentElement);
}

/** All of them, for the document. */
export const VIEW_FUNCTIONS: readonly ((...given: never[]) => unknown)[] = [
  ...[connectHost, applyContext, element, button, textOf, unmarked, rowsOf, sizeText, timeText, answerIn, showFailure],
  ...[startFiles, fileLine, startConsent, startView],
];
