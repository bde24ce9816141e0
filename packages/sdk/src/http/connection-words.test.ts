/** Each failure to connect as a caller reads it: against servers that fail in that way. */
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeCertificates } from "../../../../test/kit/certificates.ts";
import { listenOnLoopback } from "../../../../test/kit/loopback.ts";
import { createClient } from "../client.ts";
import { connectionWords, proxyStep } from "./connection-words.ts";
import { ConnectionError } from "./errors.ts";

const certificates = makeCertificates();

async function failureAt(baseUrl: string): Promise<ConnectionError> {
  const client = createClient({ baseUrl, credentials: { apiKey: "k" }, retry: { limit: 0 } });
  const thrown: unknown = await client.account.get().catch((error: unknown) => error);
  if (!(thrown instanceof ConnectionError)) throw new Error("no ConnectionError", { cause: thrown });
  return thrown;
}

async function listen(handle: (socket: Socket) => void): Promise<{ port: number; server: Server }> {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, server };
}

describe("a failure to connect names its cause and what to set [issue 48]", () => {
  it("of a certificate", async (context) => {
    if (certificates === null) context.skip("openssl, which makes the certificates, is not here");
    for (const [certificate, message, nextStep] of [
      [certificates?.untrusted, /does not trust the certificate.*CERT/, /^Set NODE_EXTRA_CA_CERTS/],
      [certificates?.expired, /./, /./],
    ] as const) {
      await using server = await listenOnLoopback((_request, response) => response.end(), 0, certificate ?? null);
      expect(await failureAt(server.baseUrl)).toMatchObject({
        message: expect.stringMatching(message) as string,
        nextStep: expect.stringMatching(nextStep) as string,
        retryable: false,
      });
    }
  });

  it("of a port, a name, a scheme and a redirect", async () => {
    const { port, server } = await listen((socket) => socket.destroy());
    await using plain = await listenOnLoopback((_request, response) => {
      response.writeHead(301, { location: "https://elsewhere.example/" }).end();
    });
    const { port: free, server: gone } = await listen(() => undefined);
    gone.close();
    await once(gone, "close");
    for (const [url, message, nextStep, retryable] of [
      [`http://127.0.0.1:${String(free)}`, /^Nothing listens at .*ECONNREFUSED/, /the port of the base URL/, true],
      [
        "http://no-such-name.invalid",
        /^The name no-such-name\.invalid is not known here/,
        /the name in the base URL/,
        true,
      ],
      [`http://127.0.0.1:${String(port)}`, /ended the connection/, /Begin the base URL with https:/, true],
      [plain.baseUrl, /redirects to another address/, /as the base URL/, false],
      [plain.baseUrl.replace("http:", "https:"), /does not speak TLS/, /Begin the base URL with http:/, false],
    ] as const)
      expect([url, await failureAt(url)]).toMatchObject([
        url,
        {
          message: expect.stringMatching(message) as string,
          nextStep: expect.stringMatching(nextStep) as string,
          retryable,
        },
      ]);
    server.close();
  });

  it.each([
    ["CERT_HAS_EXPIRED", /not valid at this time/, /clock.*renew/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", /for another name/, /the name that the certificate is for/],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", /does not trust/, /NODE_EXTRA_CA_CERTS/],
    ["EHOSTUNREACH", /cannot be reached/, /network and firewalls/],
  ])("of %s", (code, message, nextStep) => {
    const error = new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code }) });
    const words = connectionWords(error, "https://coffer.example.com/base");
    expect([words.message, words.nextStep]).toEqual([expect.stringMatching(message), expect.stringMatching(nextStep)]);
  });

  it.each([
    ["Node", new TypeError("fetch failed", { cause: new Error("unexpected redirect") })],
    ["Deno", new TypeError("Fetch failed: Encountered redirect while redirect mode is set to 'error'")],
    [
      "Bun",
      Object.assign(new TypeError('UnexpectedRedirect fetching "http://127.0.0.1/a"'), { code: "UnexpectedRedirect" }),
    ],
  ])("of a redirect, which %s refused [issue 53]", (_runtime, error) => {
    const words = connectionWords(error, "https://coffer.example.com/base");
    expect(words).toMatchObject({ code: "redirected", retryable: false });
  });
});

describe("a proxy that is named", () => {
  const step = (address: string): string | null => proxyStep(new URL(address));
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it("is ignored by Node unless it is told to, and the step says how [issue 48]", () => {
    vi.stubEnv("NODE_USE_ENV_PROXY", undefined);
    vi.stubEnv("HTTPS_PROXY", "http://proxy.example:8080");
    expect(step("https://coffer.example.com")).toMatch(/^Set NODE_USE_ENV_PROXY=1.*HTTPS_PROXY/);
    for (const other of ["http://coffer.example.com", "https://127.0.0.1:1", "https://localhost:1"])
      expect(step(other)).toBeNull();
    vi.stubEnv("NO_PROXY", "other.example, .example.com");
    expect(step("https://coffer.example.com")).toBeNull();
    vi.stubEnv("NO_PROXY", "");
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    expect(step("https://coffer.example.com")).toMatch(/^Check the proxy that HTTPS_PROXY names/);
  });
});
