import { connect, type Socket } from "node:net";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeCertificates } from "../../../../test/kit/certificates.ts";
import {
  closedPort,
  openRawReceiver,
  openReceiver,
  type Receiver,
  type ReceiverOptions,
} from "../../../../test/suites/webhook-receivers.ts";
import { send } from "../../../../test/suites/webhook-sending.ts";
import type { WebhookSender } from "../../ports/webhook-sender.ts";
import { readProxy } from "./proxy.ts";
import { openWebhookSender, type SenderOptions } from "./undici.ts";

const USER = "user";
const PASSWORD = "pass:word@with/odd?chars";
const LOGIN = `${USER}:${encodeURIComponent(PASSWORD)}@`;

interface TestProxy extends Receiver {
  /** The head of each request, as it came. */
  readonly asked: readonly string[];
}

/** Connects every tunnel to `port` of 127.0.0.1, whatever was asked for; or answers with `refusal`. */
async function openProxy(
  port: number,
  { refusal, ...options }: ReceiverOptions & { readonly refusal?: string } = {},
): Promise<TestProxy> {
  const asked: string[] = [];
  const serve = (client: Socket): void => {
    client.once("data", (head) => {
      asked.push(head.toString("latin1"));
      if (refusal !== undefined) return void client.end(refusal);
      const upstream = connect(port, "127.0.0.1", () => {
        client.write("HTTP/1.1 200 Connection established\r\n\r\n");
        client.pipe(upstream).pipe(client);
      });
      upstream.on("error", () => client.destroy());
      client.on("close", () => upstream.destroy());
    });
  };
  return { ...(await openRawReceiver(serve, options)), asked };
}

function open(proxyUrl: string, options: SenderOptions = {}): WebhookSender {
  const times = { timeout: 5_000, connectTimeout: 5_000 };
  const resolve = () => Promise.reject(new Error("the proxy resolves"));
  return openWebhookSender({ allowHttp: true, allowedNetworks: [], proxyUrl, ...times }, { resolve, ...options });
}

describe("with a proxy", () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await openReceiver((response) => response.end("ok"));
  });
  afterEach(() => receiver[Symbol.asyncDispose]());

  it("every request goes through a tunnel, signed in, and names are the proxy's to resolve", async () => {
    await using proxy = await openProxy(receiver.port);
    await using sender = open(`http://${LOGIN}127.0.0.1:${proxy.port}`);
    for (const _ of [1, 2]) {
      const outcome = await send(sender, "http://receiver.example:81/hook");
      expect(outcome).toMatchObject({ httpStatus: 200, failure: null, responseBody: "ok" });
    }
    const basic = Buffer.from(`${USER}:${PASSWORD}`).toString("base64");
    expect(proxy.asked).toHaveLength(1);
    expect(proxy.asked[0]).toMatch(/^CONNECT receiver\.example:81 HTTP\/1\.1\r\n/);
    expect(proxy.asked[0]?.toLowerCase()).toContain("\r\nhost: receiver.example:81\r\n");
    expect(proxy.asked[0]?.toLowerCase()).toContain(`\r\nproxy-authorization: basic ${basic.toLowerCase()}\r\n`);
    expect(receiver.requests.map(({ url, headers }) => [url, headers.host, headers["proxy-authorization"]])).toEqual([
      ["/hook", "receiver.example:81", undefined],
      ["/hook", "receiver.example:81", undefined],
    ]);
  });

  it("an address in IPv6 is asked for in brackets, and nobody is signed in without a name", async () => {
    await using proxy = await openProxy(receiver.port);
    await using sender = open(`http://127.0.0.1:${proxy.port}/`);
    expect(await send(sender, "http://[2606:4700::1]/")).toMatchObject({ httpStatus: 200 });
    expect(proxy.asked[0]).toMatch(/^CONNECT \[2606:4700::1\]:80 HTTP\/1\.1\r\n/);
    expect(proxy.asked[0]?.toLowerCase()).not.toContain("proxy-authorization");
  });

  it.each([
    "http://127.0.0.1/",
    "https://localhost/",
    "http://2130706433/",
    "http://[::ffff:10.0.0.1]/",
    "http://169.254.169.254/",
  ])("%s is refused before the proxy is asked", async (url) => {
    await using proxy = await openProxy(receiver.port);
    await using sender = open(`http://127.0.0.1:${proxy.port}`);
    expect(sender.refusal(url)).toBe("blocked address");
    expect(await send(sender, url)).toMatchObject({ httpStatus: 0, failure: "blocked address" });
    expect(proxy.connections()).toBe(0);
  });

  it("TLS is spoken with the receiver, through a proxy that speaks TLS itself", async (context) => {
    const certificates = makeCertificates();
    if (certificates === null) return context.skip("openssl is not installed");
    const { good, untrusted, trust } = certificates;
    await using secret = await openReceiver((response) => response.end("inside"), { certificate: good });
    for (const certificate of [good, untrusted]) {
      await using proxy = await openProxy(secret.port, { certificate });
      await using sender = open(`https://localhost:${proxy.port}`, { trust });
      // The certificate is for localhost; the name that is asked for is another, so the end-to-end check has to fail.
      const expected = certificate === good ? { failure: "tls" } : { failure: "proxy" };
      expect(await send(sender, "https://receiver.example/")).toMatchObject({ httpStatus: 0, ...expected });
      expect(proxy.asked.length).toBe(certificate === good ? 1 : 0);
    }
    await using proxy = await openProxy(secret.port, { certificate: good });
    const trusting = { trust, resolve: () => Promise.resolve([]) };
    await using sender = openWebhookSender(
      {
        allowHttp: false,
        allowedNetworks: ["127.0.0.1/32"],
        timeout: 5_000,
        connectTimeout: 5_000,
        proxyUrl: `https://localhost:${proxy.port}`,
      },
      trusting,
    );
    expect(await send(sender, "https://127.0.0.1/")).toMatchObject({ httpStatus: 200, responseBody: "inside" });
  });

  it.each([
    "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 403 Forbidden\r\ncontent-length: 6\r\n\r\nblocked",
    "HTTP/1.1 502 Bad Gateway\r\n\r\n",
    "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n",
    "no http\r\n\r\n",
    "",
  ])("a proxy that answers %j is a failure of the proxy", async (refusal) => {
    await using proxy = await openProxy(receiver.port, { refusal });
    await using sender = open(`http://${LOGIN}127.0.0.1:${proxy.port}`);
    const outcome = await send(sender, "http://receiver.example/");
    expect(outcome).toMatchObject({ httpStatus: 0, failure: "proxy", responseBody: "" });
    await proxy.allClosed();
    expect(receiver.connections()).toBe(0);
  });

  it("a proxy that is not there, or says nothing, is told apart", async () => {
    await using missing = open(`http://127.0.0.1:${await closedPort()}`);
    expect(await send(missing, "http://receiver.example/")).toMatchObject({ httpStatus: 0, failure: "proxy" });
    await using silent = await openRawReceiver((socket) => void socket.resume());
    const proxyUrl = `http://127.0.0.1:${silent.port}`;
    const times = { timeout: 5_000, connectTimeout: 100 };
    await using sender = openWebhookSender({ allowHttp: true, allowedNetworks: [], proxyUrl, ...times });
    expect(await send(sender, "http://receiver.example/")).toMatchObject({ httpStatus: 0, failure: "timeout" });
    await silent.allClosed();
  });
});

describe("a proxy's URL", () => {
  it("names host, port and login, percent signs decoded where they can be", () => {
    expect(readProxy("http://proxy.example")).toMatchObject({ hostname: "proxy.example", port: 80, secure: false });
    expect(readProxy("https://[::1]")).toMatchObject({ hostname: "::1", port: 443, secure: true, authorization: null });
    const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
    expect(readProxy("http://u:50%@h:1").authorization).toBe(basic("u:50%"));
    expect(readProxy("http://u%3a:p%20@h:1").authorization).toBe(basic("u::p "));
  });

  it("is repeated in no error", () => {
    for (const url of [`socks5://${LOGIN}h`, `http://${LOGIN}`, PASSWORD]) {
      try {
        readProxy(url);
        expect.unreachable();
      } catch (error) {
        expect(inspect(error)).not.toContain("odd");
      }
    }
  });
});
