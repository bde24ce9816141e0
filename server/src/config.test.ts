import { hash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Environment, isLoopbackHost, findUnread, parseConfig, renderUsage } from "./config.ts";
import { PRODUCTION, problemsOf } from "./config/config.test-kit.ts";
import { warningsOf } from "./config/warnings.ts";

const KEY = PRODUCTION.SERVICE_MASTER_KEY;

describe("the configuration", () => {
  it("is production when SERVICE_ENV is unset, and asks for its master key [D0-unset-env-production D0-production-needs-secrets D0-production-needs-jwt-keys]", () => {
    expect(problemsOf({})).toEqual([
      expect.stringMatching(/^SERVICE_MASTER_KEY: production needs it/),
      expect.stringMatching(/^SERVICE_JWT_KEYS: production needs it/),
      expect.stringMatching(/^SERVICE_PUBLIC_URL: links in mails lead to pages of this service/),
    ]);
    const { SERVICE_ENV: _, ...unset } = PRODUCTION;
    expect(parseConfig(unset).mode).toBe("production");
  });

  it("has the limits that were decided where nothing is set [D2-mail-operations D2-login D2-signup D2-idp D2-anonymous D2-refresh D2-general D2-webhook-test D2-json-body D2-file-sizes D2-plans D2-webhook-endpoints D2-api-keys D2-live-invites D2-vaults]", () => {
    const { rates, plans, limits } = parseConfig(PRODUCTION).settings;
    expect(rates).toEqual({
      mail: 5,
      mailAddress: 3,
      login: 10,
      signInFailures: 5,
      signup: 10,
      idp: 30,
      anonymous: 60,
      refresh: 30,
      general: 6000,
      generalBurst: 1000,
      webhookTest: 10,
    });
    const [mib, gib] = [1024 ** 2, 1024 ** 3];
    expect(plans).toEqual({
      free: { fileBytes: 100 * mib, storageBytes: 10 * gib },
      pro: { fileBytes: 5 * gib, storageBytes: 1024 * gib },
    });
    expect(limits).toEqual({
      jsonBodyBytes: mib,
      rawUploadBytes: 5 * gib,
      resumableUploadBytes: 50 * gib,
      vaults: 1000,
      apiKeys: 100,
      invites: 100,
      webhooks: 20,
      actRows: 500,
    });
  });

  it("signs access tokens with the first key that it is given, and knows the others [D3-jwt-rotation]", () => {
    const SERVICE_JWT_KEYS = ["new", "old"].map((kid) => `${kid}:${hash("sha256", kid, "base64")}`).join();
    const { jwtKeys } = parseConfig({ ...PRODUCTION, SERVICE_JWT_KEYS }).secrets;
    expect(jwtKeys.map(({ kid }) => kid)).toEqual(["new", "old"]);
  });

  it("leads links to the web application, or to the service's own pages, where production needs its address [D0-app-url D0-pages-address]", () => {
    const linksOf = (environment: Environment) => {
      const { appUrl, servesPages } = parseConfig(environment).settings;
      return [appUrl, servesPages];
    };
    expect(linksOf(PRODUCTION)).toEqual(["https://coffer.example/base", true]);
    const SERVICE_APP_URL = "https://app.example";
    expect(linksOf({ ...PRODUCTION, SERVICE_APP_URL })).toEqual([SERVICE_APP_URL, false]);
    expect(linksOf({ ...PRODUCTION, SERVICE_PUBLIC_URL: "", SERVICE_APP_URL })).toEqual([SERVICE_APP_URL, false]);
    expect(problemsOf({ ...PRODUCTION, SERVICE_PUBLIC_URL: "" })).toEqual([
      expect.stringMatching(/^SERVICE_PUBLIC_URL: /),
    ]);
    const development = { SERVICE_ENV: "development", SERVICE_PORT: "8787" };
    expect(linksOf(development)).toEqual(["http://127.0.0.1:8787", true]);
    expect(linksOf({ ...development, SERVICE_HOST: "::1" })).toEqual(["http://[::1]:8787", true]);
  });

  it("takes the master key as hex or base64 of 32 bytes, and nothing else", () => {
    const base64 = Buffer.from(KEY, "hex").toString("base64");
    const { secrets } = parseConfig({ ...PRODUCTION, SERVICE_MASTER_KEY: base64 });
    expect(Buffer.from(secrets.masterKey).toString("hex")).toBe(KEY);
    expect(problemsOf({ ...PRODUCTION, SERVICE_MASTER_KEY: "short" })).toEqual([
      expect.stringContaining("expected 32 bytes"),
    ]);
  });

  it("reports every problem at once and never the value", () => {
    const problems = problemsOf({
      SERVICE_ENV: "staging",
      SERVICE_PORT: "99999",
      SERVICE_MAX_VAULTS: "many",
      SERVICE_METRICS_TOKEN: "se cret",
    });
    expect(problems).toEqual(expect.arrayContaining([expect.stringMatching(/^SERVICE_ENV/)]));
    expect(problems).toHaveLength(4);
    expect(problems.join("\n")).not.toMatch(/staging|99999|many|se cret/);
  });

  it("refuses in production what anybody can guess as a secret: zeros, patterns, and the keys of development", () => {
    const useless = [
      ...[Buffer.alloc(32), Buffer.alloc(32, 7), Buffer.alloc(32, "changeme"), Buffer.alloc(32, "0123456789abcdef")],
      Buffer.from(Array.from({ length: 32 }, (_, at) => at)),
      hash("sha256", "coffer development master key", "buffer"),
      hash("sha256", "coffer development JWT key", "buffer"),
    ];
    for (const bytes of useless) {
      const text = bytes.toString("base64");
      const settings = {
        SERVICE_MASTER_KEY: text,
        SERVICE_JWT_KEYS: `k1:${text}`,
        SERVICE_PAYMENT_SECRET: `whsec_${text}`,
        SERVICE_METRICS_TOKEN: bytes.toString("hex").slice(0, 16).replace(/./g, "a"),
      };
      for (const [name, value] of Object.entries(settings)) {
        const problems = problemsOf({ ...PRODUCTION, [name]: value });
        expect(problems).toEqual([expect.stringMatching(`^${name}: anybody can guess it`)]);
        expect(problems.join()).not.toContain(value);
        expect(problemsOf({ SERVICE_ENV: "development", [name]: value })).toEqual([]);
      }
    }
    const payments = `whsec_${Buffer.from("coffer development payments").toString("base64")}`;
    expect(problemsOf({ ...PRODUCTION, SERVICE_PAYMENT_SECRET: payments })).toHaveLength(1);
    const same = `k1:${Buffer.from(KEY, "hex").toString("base64")}`;
    expect(problemsOf({ ...PRODUCTION, SERVICE_JWT_KEYS: same })).toEqual([
      expect.stringContaining("a secret of its own"),
    ]);
  });

  it("takes what tools make of chance", () => {
    for (let round = 0; round < 2_000; round += 1) {
      const settings = {
        SERVICE_MASTER_KEY: randomBytes(32).toString("hex"),
        SERVICE_JWT_KEYS: `k1:${randomBytes(round % 2 === 0 ? 32 : 48).toString("base64")}`,
        SERVICE_METRICS_TOKEN: randomBytes(8).toString("hex"),
        SERVICE_PAYMENT_SECRET: `whsec_${randomBytes(24).toString("base64")}`,
      };
      expect(problemsOf({ ...PRODUCTION, ...settings })).toEqual([]);
    }
  });

  it("refuses a name that is nearly that of a setting, and says which is meant", () => {
    const meant = (name: string) => problemsOf({ ...PRODUCTION, [name]: "x" }).map((text) => text.split("mean ")[1]);
    const slips = {
      SERVICE_DATADIR: "SERVICE_DATA_DIR?",
      SERVICE_DATA: "SERVICE_DATA_DIR?",
      SERVICE_DATABSE_URL: "SERVICE_DATABASE_URL?",
      SERVICE_TRUSTED_PROXY: "SERVICE_TRUSTED_PROXIES?",
      SERVICE_PROT: "SERVICE_PORT?",
      SERVICE_SMPT_URL: "SERVICE_SMTP_URL?",
      SERVICE_RATE_LIMIT: "SERVICE_RATE_LIMITS?",
    };
    for (const [name, setting] of Object.entries(slips)) expect([name, ...meant(name)]).toEqual([name, setting]);
    // Of others that share the environment: registries of services, Kubernetes beside a Service named "service-a".
    for (const name of ["SERVICE_NAME", "SERVICE_TAGS", "SERVICE_VERSION", "SERVICE_80_NAME", "SERVICE_A_SERVICE_HOST"])
      expect([name, ...meant(name)]).toEqual([name]);
  });

  it("warns of addresses in the clear, and of callers that a proxy would hide", () => {
    const events = (more: Environment) => warningsOf(parseConfig({ ...PRODUCTION, ...more })).map(({ event }) => event);
    const SERVICE_SMTP_URL = "smtps://mail.example.com";
    expect(events({})).toEqual(["mail-stays-here"]);
    expect(events({ SERVICE_SMTP_URL })).toEqual([]);
    expect(events({ SERVICE_SMTP_URL, SERVICE_PUBLIC_URL: "http://127.0.0.1:8787" })).toEqual([]);
    const open = { SERVICE_SMTP_URL, SERVICE_PUBLIC_URL: "http://coffer.example", SERVICE_HOST: "0.0.0.0" };
    expect(events(open)).toEqual(["address-in-the-clear", "no-trusted-proxies"]);
    expect(events({ ...open, SERVICE_TRUSTED_PROXIES: "10.0.0.0/8" })).toEqual(["address-in-the-clear"]);
    expect(events({ ...open, SERVICE_APP_URL: "http://app.example" })).toHaveLength(3);
    expect(events({ SERVICE_ENV: "development", SERVICE_PUBLIC_URL: "http://coffer.example" })).toEqual([]);
  });

  it("refuses to start where Node is told to check no certificate, in development too", () => {
    const development = { SERVICE_ENV: "development" };
    expect(() => parseConfig({ ...development, NODE_TLS_REJECT_UNAUTHORIZED: "0" })).toThrow(
      /NODE_TLS_REJECT_UNAUTHORIZED: .*sslrootcert, SERVICE_BLOBS_CA_FILE/,
    );
    parseConfig({ ...development, NODE_TLS_REJECT_UNAUTHORIZED: "1" });
  });

  it("refuses development where others can reach it, unless told so by name [D7-refuse-non-loopback]", () => {
    const open = { SERVICE_ENV: "development", SERVICE_HOST: "0.0.0.0" };
    expect(problemsOf(open)).toEqual([expect.stringMatching(/^SERVICE_HOST/)]);
    expect(problemsOf({ ...open, SERVICE_ALLOW_INSECURE_DEV: "1" })).toEqual([]);
  });

  it("knows loopback names and addresses", () => {
    for (const host of ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"]) expect(isLoopbackHost(host)).toBe(true);
    for (const host of ["0.0.0.0", "::", "127.example.com", "10.0.0.1", ""]) expect(isLoopbackHost(host)).toBe(false);
  });

  it("takes proxies by address or block, and never everybody", () => {
    const blocks = (given: string) => problemsOf({ ...PRODUCTION, SERVICE_TRUSTED_PROXIES: given });
    expect(blocks("10.0.0.0/8, 192.0.2.1 2001:db8::/32,::1")).toEqual([]);
    expect(parseConfig({ ...PRODUCTION, SERVICE_TRUSTED_PROXIES: "10.0.0.0/8, ::1" }).settings.trustedProxies).toEqual([
      "10.0.0.0/8",
      "::1",
    ]);
    for (const wrong of ["1", "10.0.0.0/33", "10.0.0/8", "2001:db8::/129", "10.0.0.1/8/8", "fe80", "10.0.0.0/"]) {
      expect(blocks(`::1,${wrong}`)).toEqual([expect.stringMatching(/entry 2 is neither an address nor a CIDR block/)]);
    }
    for (const all of ["0.0.0.0/0", "::/0"])
      expect(blocks(all)).toEqual([expect.stringMatching(/entry 1 covers every address/)]);
  });

  it("takes networks for webhooks by address or block, in production never all, and does not repeat a proxy", () => {
    const networks = (given: string) => problemsOf({ ...PRODUCTION, SERVICE_WEBHOOK_NETWORKS: given });
    expect(networks("10.1.0.0/16, fd00::/8 192.168.1.9")).toEqual([]);
    for (const wrong of ["10.0.0.0/33", "10.0.0/8", "fd00::/129", "::1/1/1"]) {
      expect(networks(`::1,${wrong}`)).toEqual([expect.stringMatching(/entry 2 is neither an address nor a CIDR/)]);
    }
    for (const all of ["0.0.0.0/0", "::/0"]) {
      expect(networks(all)).toEqual([expect.stringMatching(/entry 1 lets anyone's webhook/)]);
    }
    const proxy = (given: string) => problemsOf({ ...PRODUCTION, SERVICE_WEBHOOK_PROXY: given });
    expect(proxy("http://user:hunter2@proxy.example:3128")).toEqual([]);
    for (const wrong of ["http://user:hunter2@:3128", "socks5://user:hunter2@proxy.example"]) {
      const [problem, ...others] = proxy(wrong);
      expect(problem).toContain("SERVICE_WEBHOOK_PROXY");
      expect(problem).not.toContain("hunter2");
      expect(others).toEqual([]);
    }
  });

  it("names every variable in its usage", () => {
    for (const name of ["SERVICE_ENV", "SERVICE_PORT", "SERVICE_MASTER_KEY", "SERVICE_DATA_DIR"]) {
      expect(renderUsage()).toContain(name);
    }
  });
});

it("names what is set and read by nobody, but for what clients read", () => {
  const environment = {
    SERVICE_ENV: "development",
    SERVICE_NAME: "files",
    SERVICE_API_KEY: "x",
    PATH: "/bin",
    SERVICE_x: "",
  };
  expect(findUnread(environment)).toEqual(["SERVICE_NAME"]);
});
