/** Bodies that cost more than their sender: large ones without a credential, deep ones, wide ones, many at once. */
import { api, endpointsOf, isBytes } from "@coffer/contract";
import { once } from "node:events";
import { type IncomingMessage, request as openRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { openLiveService } from "../features/live-service.ts";
import { JsonBounds, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../json-bounds.ts";
import { ServiceError } from "../service-error.ts";
import { openTestApp, type TestAnswer, type TestApp } from "../app.test-kit.ts";
import { BodyRoom, FREE_BODY_BYTES } from "../limits/body-room.ts";

const OPEN = endpointsOf(api).filter(({ auth, body }) => auth === "none" && body !== undefined && !isBytes(body));

const JSON_TYPE = { "content-type": "application/json" };

/** In pieces of every size, which must not matter. */
function bounded(text: string): string {
  const bytes = Buffer.from(text);
  const codes = [1, 2, 3, 7, 1000, bytes.length].map((size) =>
    codeOf(() => {
      const bounds = new JsonBounds();
      for (let at = 0; at < bytes.length; at += size) bounds.add(bytes.subarray(at, at + size));
    }),
  );
  return [...new Set(codes)].join();
}

function codeOf(act: () => void): string {
  try {
    act();
    return "ok";
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

describe("a body without a credential", () => {
  it.each(OPEN.map(({ path }) => path))("is at most 16 KiB at %s [D2-anonymous-bodies]", async (path) => {
    await using service = await openTestApp();
    const payload = (bytes: number) => JSON.stringify({ x: "x".repeat(bytes - 8) });
    const send = (bytes: number) => service.ask("POST", path, { payload: payload(bytes), headers: JSON_TYPE });
    expect((await send(FREE_BODY_BYTES + 1)).status).toBe(413);
    expect((await send(FREE_BODY_BYTES)).status).not.toBe(413);
  });

  it("is refused by its length before it comes, and when it comes without one", async () => {
    await using service = await openLiveService();
    const url = `${service.baseUrl}/api/auth/logout`;
    const declared = openRequest(url, { method: "POST", headers: { ...JSON_TYPE, "content-length": "1000000" } });
    declared.flushHeaders();
    const [response] = (await once(declared, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    declared.on("error", () => undefined).destroy();
    const chunked = await fetch(url, {
      ...{ method: "POST", headers: JSON_TYPE, duplex: "half" },
      body: new Blob(["x".repeat(40_000)]).stream(),
    });
    expect(chunked.status).toBe(413);
  });
});

describe("JSON is held to its bounds before it is parsed", () => {
  const vault = async (service: TestApp, payload: string): Promise<TestAnswer> => {
    const { key } = await service.signUp();
    return service.ask("POST", "/api/vaults", { key, payload, headers: JSON_TYPE });
  };

  it.each([
    ["deep arrays", "[".repeat(MAX_JSON_DEPTH + 1)],
    ["deep objects", '{"a":'.repeat(MAX_JSON_DEPTH + 1)],
    ["many values", `[${"1,".repeat(MAX_JSON_VALUES)}1]`],
    ["many keys", `{${Array.from({ length: MAX_JSON_VALUES }, (_, index) => `"k${index}":1`).join()}}`],
    ["many empty objects", `[${"{},".repeat(MAX_JSON_VALUES / 2)}{}]`],
  ])("%s are refused, named as such", async (_what, payload) => {
    await using service = await openTestApp();
    const answer = await vault(service, payload);
    expect(answer.status).toBe(400);
    expect(answer.body["error"]).toMatch(/nested deeper than|more than \d+ values/);
  });

  it("counts no bracket or comma inside a string, whatever is escaped in it", () => {
    const noise = `${"[{,".repeat(4_000)}\\`;
    for (const text of [noise, `"${noise}`, `\\"${noise}"`, `${noise}\\\\"`])
      expect(bounded(JSON.stringify({ [text]: text }))).toBe("ok");
    expect(bounded(JSON.stringify(Array.from({ length: 5_000 }, () => "a,b")))).toBe("ok");
    let deep: unknown = 1;
    for (let level = 0; level < MAX_JSON_DEPTH; level += 1) deep = [deep];
    expect(bounded(JSON.stringify(deep))).toBe("ok");
    expect(bounded(JSON.stringify([deep]))).toBe("validation_failed");
  });

  it("leaves to the parser what ends early, and refuses at once what no JSON has outside of strings", () => {
    for (const text of ['"', '"\\', "]]]]", '{"a', "", "\ufeff{}", "[truefalsenull-1.5E+3]"])
      expect(bounded(text)).toBe("ok");
    for (const text of ['\\"', "x=1", "{'a':1}", "\u0000", "--boundary"]) expect(bounded(text)).toBe("malformed_json");
  });
});

describe("the room for bodies", () => {
  const sizes = { total: 100_000, share: 40_000 };

  it("has a free part for each body, a share for each holder, and an end for all", () => {
    const room = new BodyRoom(sizes);
    const first = room.open("one");
    first.add(FREE_BODY_BYTES);
    first.add(40_000);
    expect(codeOf(() => first.add(1))).toBe("rate_limited");
    expect(codeOf(() => room.open("one").add(FREE_BODY_BYTES))).toBe("ok");
    expect(codeOf(() => room.open("one").add(FREE_BODY_BYTES + 1))).toBe("rate_limited");
    const others = ["two", "three"].map((holder) => room.open(holder));
    expect(codeOf(() => others[0]?.add(FREE_BODY_BYTES + 40_000))).toBe("ok");
    expect(codeOf(() => others[1]?.add(FREE_BODY_BYTES + 20_000))).toBe("ok");
    expect(codeOf(() => room.open("four").add(FREE_BODY_BYTES + 1))).toBe("unavailable");
    expect(codeOf(() => room.open("four").add(FREE_BODY_BYTES))).toBe("ok");
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect(codeOf(() => room.open("one").add(FREE_BODY_BYTES + 40_000))).toBe("ok");
  });

  it("is given back by every request, answered or cut", async () => {
    await using service = await openLiveService();
    const headers = { ...JSON_TYPE, authorization: service.authorization };
    const body = JSON.stringify({ name: "x".repeat(1_000_000), type: "public" });
    for (let turn = 0; turn < 40; turn += 1) {
      if (turn % 2 === 0) {
        const cut = openRequest(`${service.baseUrl}/api/vaults`, {
          ...{ method: "POST", headers: { ...headers, "content-length": body.length } },
        });
        cut.on("error", () => undefined).write(body.slice(0, 900_000), () => cut.destroy());
        await new Promise((resolve) => cut.on("close", resolve));
      } else {
        const answer = await fetch(`${service.baseUrl}/api/vaults`, { method: "POST", headers, body });
        expect(answer.status).toBe(400);
      }
    }
  });
});
