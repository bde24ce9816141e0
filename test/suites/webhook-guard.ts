/** What no driver of the webhook sender port may reach (OWASP API7:2023). The inner services are real and count who comes. */
import type { WebhookSender } from "@coffer/server/ports/webhook-sender";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BAD_NAMES, ELSEWHERE, NO_ADDRESS, PORT, THIS_MACHINE, THIS_MACHINE_IN_SIX } from "./webhook-addresses.ts";
import { openReceiver, type Receiver } from "./webhook-receivers.ts";
import { type OpenSender, send, type SenderSetup } from "./webhook-sending.ts";

/** Where the decent receiver is; every other address of this machine is inner. */
const OUTER = "127.0.0.2";
const GUARDED = { allowHttp: true, allowedNetworks: [`${OUTER}/32`] } as const;
const BLOCKED = { httpStatus: 0, failure: "blocked address", responseBody: "" };
const INVALID = { httpStatus: 0, failure: "invalid url", responseBody: "" };

interface Place {
  readonly port: number;
  readonly outer: Receiver;
  /** On 127.0.0.1 and, where there is IPv6, on ::1. */
  readonly inner: readonly Receiver[];
}

let place: Place;

export function describeWebhookGuard(name: string, openSender: OpenSender): void {
  const open = (setup: SenderSetup = {}): WebhookSender =>
    openSender({ ...GUARDED, resolve: (hostname) => Promise.resolve(BAD_NAMES[hostname] ?? []), ...setup });
  describe(`webhook guard: ${name}`, () => {
    beforeAll(async () => {
      place = await openPlace();
    });
    afterAll(async () => {
      for (const receiver of [place.outer, ...place.inner]) await receiver[Symbol.asyncDispose]();
    });
    beforeEach(() => expect(visits()).toBe(0));
    describeRefusals(open);
    describeNames(open);
    describeWhatGoesThrough(open);
  });
}

/** All on one port, so that nothing but the address decides. */
async function openPlace(): Promise<Place> {
  const inner = await openReceiver((response) => response.end("inner"));
  const { port } = inner;
  const six = await openReceiver((response) => response.end("inner"), { host: "::1", port }).catch(() => null);
  const outer = await openReceiver(
    (response, { url }) => {
      const location = `http://127.0.0.1:${port}/`;
      // Each request on a connection of its own, for the tests that count on a new look at the address.
      response.writeHead(url === "/redirect" ? 302 : 200, { location, connection: "close" }).end("outer");
    },
    { host: OUTER, port },
  );
  return { port, outer, inner: six === null ? [inner] : [inner, six] };
}

/** Connections that reached an inner service. */
function visits(): number {
  return place.inner.reduce((sum, receiver) => sum + receiver.connections(), 0);
}

const at = (url: string): string => url.replace(PORT, String(place.port));

function describeRefusals(open: (setup?: SenderSetup) => WebhookSender): void {
  const blocked = [...THIS_MACHINE, ...THIS_MACHINE_IN_SIX, ...ELSEWHERE];

  it("has a corpus of more than 60 addresses", () => {
    expect(new Set([...blocked, ...NO_ADDRESS, ...Object.keys(BAD_NAMES)]).size).toBeGreaterThan(180);
  });

  it.each(blocked)("does not reach %j, over http or https", async (url) => {
    await using sender = open();
    for (const each of [at(url), at(url).replace(/^http:/i, "https:")]) {
      expect(sender.refusal(each)).toBe("blocked address");
      expect(await send(sender, each)).toMatchObject(BLOCKED);
    }
    expect(visits()).toBe(0);
  });

  it.each(NO_ADDRESS)("does not take %j for an address", async (url) => {
    await using sender = open();
    for (const each of [at(url), at(url).replace(/^http:/i, "https:")]) {
      expect(sender.refusal(each)).toBe("invalid url");
      expect(await send(sender, each)).toMatchObject(INVALID);
    }
    expect(visits()).toBe(0);
  });

  it("takes plain http only where it is told to", async () => {
    await using sender = open({ allowHttp: false });
    const url = `http://${OUTER}:${place.port}/`;
    expect(sender.refusal(url)).toBe("invalid url");
    expect(await send(sender, url)).toMatchObject(INVALID);
    expect(sender.refusal(url.replace("http:", "https:"))).toBe(null);
  });

  it.each([
    "https://receiver.example/",
    "https://receiver.example:8443/a?b=c#d",
    "https://8.8.8.8/",
    "https://bücher.example/",
    "https://[2606:4700:4700::1111]/",
    "https://[64:ff9b::8.8.8.8]/",
    "https://receiver.example./",
    "https://a_b.example/",
  ])("lets %j be registered", async (url) => {
    await using sender = open({ allowHttp: false });
    expect(sender.refusal(url)).toBe(null);
  });
}

function describeNames(open: (setup?: SenderSetup) => WebhookSender): void {
  it.each(Object.keys(BAD_NAMES))("does not reach what %s resolves to", async (hostname) => {
    await using sender = open();
    for (const scheme of ["http", "https"]) {
      const url = `${scheme}://${hostname}:${place.port}/`;
      // Only the resolver knows, and it may say something else tomorrow.
      expect(sender.refusal(url)).toBe(null);
      expect(await send(sender, url)).toMatchObject(BLOCKED);
    }
    expect(visits()).toBe(0);
  });

  it("reaches of a name's addresses those that it may", async () => {
    const mixed = ["127.0.0.1", "::1", OUTER, "169.254.169.254", "10.0.0.1"];
    for (const addresses of [mixed, mixed.toReversed()]) {
      await using sender = open({ resolve: () => Promise.resolve(addresses) });
      const outcome = await send(sender, `http://mixed.example:${place.port}/`);
      expect(outcome).toMatchObject({ httpStatus: 200, failure: null, responseBody: "outer" });
    }
    expect(visits()).toBe(0);
  });

  it("asks once for each connection, and believes nothing from before (DNS rebinding)", async () => {
    const answers = [[OUTER], ["127.0.0.1"], ["127.0.0.1", OUTER], ["::1"]];
    let asked = 0;
    await using sender = open({ resolve: () => Promise.resolve(answers[asked++] ?? []) });
    const words: string[] = [];
    for (const _ of answers) {
      const { failure, responseBody } = await send(sender, `http://rebinding.example:${place.port}/`);
      words.push(failure ?? responseBody);
    }
    expect(words).toEqual(["outer", "blocked address", "outer", "blocked address"]);
    expect(asked).toBe(answers.length);
    expect(visits()).toBe(0);
  });
}

/** Last, because some of it does reach the inner services, on purpose. */
function describeWhatGoesThrough(open: (setup?: SenderSetup) => WebhookSender): void {
  it("reaches what it may, and does not follow it inwards", async () => {
    await using sender = open();
    const before = place.outer.requests.length;
    for (const [path, httpStatus, failure] of [
      ["/", 200, null],
      ["/redirect", 302, "HTTP 302"],
    ] as const) {
      const outcome = await send(sender, `http://${OUTER}:${place.port}${path}`);
      expect(outcome).toMatchObject({ httpStatus, failure, responseBody: "outer" });
    }
    expect(place.outer.requests.length - before).toBe(2);
    expect(visits()).toBe(0);
  });

  it("says nothing to where a connection led when that is not allowed: the system takes 0.0.0.0 for 127.0.0.1", async () => {
    await using inner = await openReceiver((response) => response.end("inner"));
    await using sender = open({ allowedNetworks: ["0.0.0.0/32"] });
    for (const scheme of ["http", "https"]) {
      expect(await send(sender, `${scheme}://0.0.0.0:${inner.port}/`)).toMatchObject(BLOCKED);
    }
    await inner.allClosed();
    expect(inner.connections()).toBe(2);
    expect(inner.heard()).toBe(0);
  });

  it("is what stands between the corpus and the inner services", async () => {
    await using inner = await openReceiver((response) => response.end("inner"));
    await using sender = open({ allowedNetworks: ["0.0.0.0/0", "::/0"] });
    for (const url of THIS_MACHINE) {
      const outcome = await send(sender, url.replace(PORT, String(inner.port)));
      expect(outcome, url).toMatchObject({ httpStatus: 200, responseBody: "inner" });
    }
    expect(inner.requests).toHaveLength(THIS_MACHINE.length);
  });
}
