/** The client where there is no Node: hashing by @noble/hashes, bodies as Blobs, another name for itself. */
import { createHash } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { createClient } from "./client.ts";
import { BASE_URL, openService } from "./connection/service.test-kit.ts";
import { VirtualClock } from "./http/transport.test-kit.ts";

vi.mock("./http/runtime.ts", () => ({
  nodeVersion: () => null,
  canStreamRequests: () => false,
  redirectMode: () => "manual",
}));
vi.mock("./http/native-crypto.ts", () => ({ nativeCrypto: () => null }));

const PART = 16 * 1024;
const BYTES = Uint8Array.from({ length: PART * 3 + 11 }, (_, index) => (index * 17) & 0xff);
const SHA256 = createHash("sha256").update(BYTES).digest("hex");

describe("in a browser", () => {
  it("says who it is in a header that may be set there", async () => {
    const { client, sent } = await openService();
    await client.account.get();
    expect(sent.at(-1)?.headers.get("x-client")).toMatch(/^coffer-sdk\//);
    expect(sent.at(-1)?.headers.has("user-agent")).toBe(false);
  });

  it("uploads whole and in parts, and downloads with a verified digest", async () => {
    const { client, sent } = await openService();
    const whole = await client.files.upload({ name: "whole", body: BYTES });
    expect(whole.sha256).toBe(SHA256);
    const body = new Blob([BYTES]);
    const parts = await client.files.upload({ name: "parts", body }, { partBytes: PART });
    expect(parts.file).toMatchObject({ sha256: SHA256, size: BYTES.length });
    const stream = body.stream();
    expect((await client.files.upload({ name: "s", body: stream, size: body.size }, { partBytes: PART })).sha256).toBe(
      SHA256,
    );
    // A length of our own would say that the body went as a stream; for a Blob the runtime sets it.
    expect(sent.filter(({ headers }) => headers.has("content-length"))).toEqual([]);
    expect(Buffer.compare(await (await client.files.download(parts.file.id)).bytes(), BYTES)).toBe(0);
  });

  it("does not send what a browser would mangle: a long stream of unknown size", async () => {
    const { client, sent } = await openService();
    const upload = client.files.upload({ name: "s", body: new Blob([BYTES]).stream() }, { partBytes: PART });
    await expect(upload).rejects.toMatchObject({ code: "invalid_request", issues: [expect.stringContaining("size")] });
    expect(sent.filter(({ method, url }) => method === "POST" && url.includes("/api/files"))).toEqual([]);
  });

  it("does not end a body by the clock, since it cannot see it move", async () => {
    const clock = new VirtualClock();
    const slow = async (): Promise<Response> => {
      await new Promise<void>((resolve) => void clock.after(3_600_000, resolve));
      return new Response(null, { status: 403, headers: { "x-error-code": "storage_quota" } });
    };
    const client = createClient({ baseUrl: BASE_URL, transport: slow, clock, credentials: { apiKey: "any" } });
    await expect(client.files.upload({ name: "a", body: BYTES })).rejects.toMatchObject({ code: "storage_quota" });
    expect(clock.now()).toBe(3_600_000);
  });
});
