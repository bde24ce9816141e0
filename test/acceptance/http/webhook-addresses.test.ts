import { describe, expect, it } from "vitest";
import { expectError, expectStatus, fieldsAt, objectIn } from "../kit/answers.ts";
import { useProductionService, useService, type Service } from "../kit/service.ts";

/** Nothing is sent in these tests: they are about what may be registered, and register nothing that an event meets. */
const development = useService();
const production = useProductionService({ SERVICE_WEBHOOK_NETWORKS: "10.1.2.0/24, fd00:1::/32" });

const EVENTS = ["account.plan_changed"];
const register = (service: Service, url: unknown) =>
  service.ask("POST", "/api/webhooks/", { body: { url, events: EVENTS } });

async function expectRefused(service: Service, url: string): Promise<void> {
  const said = expectError(await register(service, url), 400, "url_refused");
  expect(said).toMatch(/^body\.url: /);
  // An address may hold a password.
  expect(said).not.toContain(url);
}

/** Not the public internet's, in the notations that readers of addresses know. */
const PRIVATE = [
  ...[
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
  ],
  ...["192.0.2.1", "198.18.0.1", "168.63.129.16"],
  ...["[::]", "[fc00::1]", "[fe80::1]", "[ff02::1]", "[::ffff:10.0.0.1]", "[::ffff:a00:1]", "[64:ff9b::a00:1]"],
  ...["[2002:a00:1::]", "[2001:db8::1]", "[::10.0.0.1]"],
  ...["167772161", "0xa000001", "012.0.0.1", "10.1", "0x0a.0.0.1", "10.0.0.1.", "１０.0.0.1"],
];
const LOOPBACK = [
  ...["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1.", "[::1]", "[::ffff:127.0.0.1]"],
  ...["[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "localhost", "LOCALHOST", "localhost.", "a.localhost", "①27.0.0.1"],
];
const SENSELESS = [
  ...[
    "nonsense",
    "//receiver.example",
    "/hook",
    "ftp://receiver.example/",
    "file:///etc/passwd",
    "javascript:alert(1)",
  ],
  ...[
    "https://",
    "https://user@receiver.example/",
    "https://user:word@receiver.example/",
    "https://:word@receiver.example/",
  ],
  ...["https://receiver.example:0/", "https://receiver.example:65536/", "https://receiver.example\\@10.0.0.1/"],
  ...["https://receiver.example/a b", "https://receiver.example/\n", "\thttps://receiver.example/", "https://[::1/"],
];

describe("the address of a webhook in production", () => {
  it("is https: plain http is refused [D6-create-url]", async () => {
    expectStatus(await register(production(), "https://receiver.example/hook?for=us"), 201);
    expectStatus(await register(production(), "https://receiver.example:8443/"), 201);
    await expectRefused(production(), "http://receiver.example/hook");
    await expectRefused(production(), "http://93.184.215.14/hook");
  });

  it("is no address of a private network or of this machine, however it is written [D6-create-url D6-blocked-address]", async () => {
    for (const host of [...PRIVATE, ...LOOPBACK]) await expectRefused(production(), `https://${host}/`);
    expectStatus(await register(production(), "https://93.184.215.14/"), 201);
    expectStatus(await register(production(), "https://[2606:4700::1111]/"), 201);
  });

  it("is one that means something, without credentials [D6-create-url]", async () => {
    for (const url of SENSELESS) await expectRefused(production(), url);
    for (const url of ["", 7, null, ["https://receiver.example/"]])
      expectError(await register(production(), url), 400, "validation_failed");
  });

  it("has at most 2,048 characters, also as it is kept [D6-create-url]", async () => {
    const of = (length: number): string => "https://receiver.example/".padEnd(length, "a");
    expectStatus(await register(production(), of(2048)), 201);
    expectError(await register(production(), of(2049)), 400, "validation_failed");
    // Three characters in the normal form for one.
    await expectRefused(production(), `${of(2045)}é`);
  });

  it("is held to the same when it is changed [D6-create-url D6-update-delete]", async () => {
    const { id } = objectIn(fieldsAt(await register(production(), "https://receiver.example/"), 201), "webhook");
    const change = (url: string) => production().ask("PATCH", `/api/webhooks/${String(id)}`, { body: { url } });
    for (const url of ["http://receiver.example/", "https://10.0.0.1/", "https://a:b@receiver.example/"])
      expectError(await change(url), 400, "url_refused");
    const changed = fieldsAt(await change("https://Receiver.Example/moved"), 200);
    expect(objectIn(changed, "webhook")["url"]).toBe("https://receiver.example/moved");
  });

  it("may be in a network that the operator named, and in no other [D6-blocked-address]", async () => {
    for (const host of ["10.1.2.3", "[::ffff:10.1.2.3]", "[fd00:1::7]"])
      expectStatus(await register(production(), `https://${host}/`), 201);
    for (const host of ["10.1.3.1", "127.0.0.1", "[fd00:2::7]"]) await expectRefused(production(), `https://${host}/`);
    await expectRefused(production(), "http://10.1.2.3/");
  });
});

describe("the address of a webhook in development", () => {
  it("may be plain http and of this machine, and of no other private network [D6-create-url D6-blocked-address]", async () => {
    for (const host of ["127.0.0.1:9", "[::1]:9", "localhost:9"])
      expectStatus(await register(development(), `http://${host}/hook`), 201);
    for (const host of PRIVATE) {
      await expectRefused(development(), `http://${host}/`);
      await expectRefused(development(), `https://${host}/`);
    }
    for (const url of SENSELESS) await expectRefused(development(), url);
  });
});
