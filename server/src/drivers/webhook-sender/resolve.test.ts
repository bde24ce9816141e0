import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { send } from "../../../../test/suites/webhook-sending.ts";
import { dnsResolver } from "./resolve.ts";
import { openWebhookSender } from "./undici.ts";

/** What the name server knows; "silent" gets no answer at all. */
const NAMES: Readonly<Record<string, Readonly<Record<"A" | "AAAA", readonly string[] | "silent">>>> = {
  "both.example": { A: ["192.0.2.1", "192.0.2.2"], AAAA: ["2001:db8::1"] },
  "four.example": { A: ["192.0.2.1"], AAAA: [] },
  "six.example": { A: [], AAAA: ["2001:db8::1"] },
  "half.example": { A: ["192.0.2.1"], AAAA: "silent" },
  "inner.example": { A: ["127.0.0.1"], AAAA: ["::1"] },
  "none.example": { A: [], AAAA: [] },
};
const TYPES = new Map([
  [1, "A"],
  [28, "AAAA"],
] as const);

/** RFC 1035 §4.1: the question repeated, and one record per address, each of which points at the question's name. */
function answerTo(query: Buffer): Buffer | null {
  const labels: string[] = [];
  let at = 12;
  for (; query.readUInt8(at) !== 0; at += query.readUInt8(at) + 1) {
    labels.push(query.toString("latin1", at + 1, at + 1 + query.readUInt8(at)));
  }
  const type = query.readUInt16BE(at + 1);
  const family = TYPES.get(type as 1 | 28);
  const name = NAMES[labels.join(".").toLowerCase()];
  const addresses = family === undefined ? [] : (name?.[family] ?? []);
  if (addresses === "silent") return null;
  const header = Buffer.from([0, 0, 0x81, name === undefined ? 0x83 : 0x80, 0, 1, 0, addresses.length, 0, 0, 0, 0]);
  query.copy(header, 0, 0, 2);
  const records = addresses.map((address) => {
    const bytes = bytesOf(address);
    return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]);
  });
  return Buffer.concat([header, query.subarray(12, at + 5), ...records]);
}

function bytesOf(address: string): number[] {
  if (isIPv4(address)) return address.split(".").map(Number);
  const [head = "", tail = ""] = address.split("::");
  const [before, after] = [head, tail].map((part) => part.split(":").filter((group) => group !== ""));
  const groups = [...before!, ...Array<string>(8 - before!.length - after!.length).fill("0"), ...after!];
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]);
}

describe("names in DNS", () => {
  const server = createSocket("udp4");
  let servers: readonly string[] = [];
  beforeAll(async () => {
    server.on("message", (query: Buffer, { port, address }: RemoteInfo) => {
      const answer = answerTo(query);
      if (answer !== null) server.send(answer, port, address);
    });
    server.bind(0, "127.0.0.1");
    await once(server, "listening");
    servers = [`127.0.0.1:${server.address().port}`];
  });
  afterAll(() => void server.close());

  it.each([
    ["both.example", ["192.0.2.1", "192.0.2.2", "2001:db8::1"]],
    ["both.example.", ["192.0.2.1", "192.0.2.2", "2001:db8::1"]],
    ["BOTH.example", ["192.0.2.1", "192.0.2.2", "2001:db8::1"]],
    ["four.example", ["192.0.2.1"]],
    ["six.example", ["2001:db8::1"]],
    ["half.example", ["192.0.2.1"]],
  ])("%s has the addresses of both families, as far as there are any", async (name, expected) => {
    expect((await dnsResolver(servers)(name)).toSorted()).toEqual(expected);
  });

  it.each(["none.example", "unknown.example", "localhost", "both", "a..b"])("%s has none", async (name) => {
    await expect(dnsResolver(servers)(name)).rejects.toThrow();
  });

  it("that lead inwards are not followed, and those without an address are told apart", async () => {
    const settings = { allowHttp: true, allowedNetworks: [], proxyUrl: null, timeout: 10_000, connectTimeout: 10_000 };
    await using sender = openWebhookSender(settings, { resolve: dnsResolver(servers) });
    expect(await send(sender, "http://inner.example/")).toMatchObject({ failure: "blocked address" });
    expect(await send(sender, "http://unknown.example/")).toMatchObject({ failure: "dns" });
  });
});
