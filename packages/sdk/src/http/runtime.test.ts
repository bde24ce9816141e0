import { afterEach, expect, it, vi } from "vitest";
import { canStreamRequests } from "./runtime.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

it("says by runtime whether request bodies may be streams [issue 53]", () => {
  expect(canStreamRequests()).toBe(true);
  vi.stubGlobal("process", { versions: {} });
  vi.stubGlobal("navigator", { userAgent: "Mozilla/5.0" });
  expect(canStreamRequests()).toBe(false);
  vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" });
  expect(canStreamRequests()).toBe(true);
  vi.stubGlobal("navigator", undefined);
  expect(canStreamRequests()).toBe(false);
});
