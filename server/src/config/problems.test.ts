import { randomBytes } from "node:crypto";
import { CHAIN_NETWORKS } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../config.ts";
import { PRODUCTION, problemsOf } from "./config.test-kit.ts";

const PROVIDER = {
  SERVICE_IDP_ISSUER: "https://issuer.example",
  SERVICE_IDP_CLIENT_ID: "client",
};
const HOSTED = {
  SERVICE_PROVER: "hosted",
  SERVICE_PROVER_URL: "https://prover.example",
  SERVICE_PROVER_API_KEY: "prover-key-of-this-test",
};

describe("the chain's node and package", () => {
  const packageId = `0x${"c".repeat(64)}`;
  const chain = { SERVICE_CHAIN_URL: "https://node.example", SERVICE_CHAIN_PACKAGE: packageId };

  it("are both there or both not: without them there are no shared vaults", () => {
    const url = "https://node.example";
    expect(parseConfig({ ...PRODUCTION, ...chain }).chain).toEqual({ url, packageId, chainId: null });
    const SERVICE_CHAIN_ID = "3".repeat(44);
    expect(parseConfig({ ...PRODUCTION, ...chain, SERVICE_CHAIN_ID }).chain?.chainId).toBe(SERVICE_CHAIN_ID);
    expect(problemsOf({ ...PRODUCTION, SERVICE_CHAIN_ID })).toEqual([
      expect.stringMatching(/^SERVICE_CHAIN_URL: SERVICE_CHAIN_ID needs it/),
    ]);
    for (const empty of [{}, { SERVICE_CHAIN_URL: "", SERVICE_CHAIN_PACKAGE: "" }])
      expect(parseConfig({ ...PRODUCTION, ...empty }).chain).toBeNull();
    const { SERVICE_CHAIN_URL, SERVICE_CHAIN_PACKAGE } = chain;
    expect(problemsOf({ ...PRODUCTION, SERVICE_CHAIN_URL })).toEqual([
      expect.stringMatching(/^SERVICE_CHAIN_PACKAGE: SERVICE_CHAIN_URL needs it/),
    ]);
    expect(problemsOf({ ...PRODUCTION, SERVICE_CHAIN_PACKAGE })).toEqual([
      expect.stringMatching(/^SERVICE_CHAIN_URL: SERVICE_CHAIN_PACKAGE needs it/),
    ]);
  });

  it("are read over TLS in production, or on this machine", () => {
    const at = (SERVICE_CHAIN_URL: string, more = {}) =>
      problemsOf({ ...PRODUCTION, ...chain, SERVICE_CHAIN_URL, ...more });
    expect(at("http://node.example:9000")).toEqual([
      expect.stringMatching(/^SERVICE_CHAIN_URL: production reads the chain over https/),
    ]);
    for (const url of ["https://node.example", "http://127.0.0.1:9000", "http://[::1]:9000"])
      expect(at(url)).toEqual([]);
    expect(at("http://node.example", { SERVICE_ENV: "development" })).toEqual([]);
  });

  it.each([
    ["SERVICE_CHAIN_URL", "node.example"],
    ["SERVICE_CHAIN_URL", "ws://node.example"],
    ["SERVICE_CHAIN_PACKAGE", "0xc"],
    ["SERVICE_CHAIN_PACKAGE", packageId.toUpperCase()],
    ["SERVICE_CHAIN_PACKAGE", `${packageId}::vault`],
    ["SERVICE_CHAIN_ID", "mainnet"],
    ["SERVICE_CHAIN_ID", "0".repeat(44)],
  ])("say of %s that %s is none, without repeating it", (name, value) => {
    const problems = problemsOf({ ...PRODUCTION, ...chain, [name]: value });
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name}`))]);
    expect(problems.join()).not.toContain(value);
  });

  it("are of a real network in production", () => {
    const local = { ...chain, SERVICE_CHAIN_NETWORK: "localnet" };
    expect(problemsOf({ ...PRODUCTION, ...local })).toEqual([
      expect.stringContaining("the local chain is for development; set testnet or mainnet"),
    ]);
    expect(problemsOf({ SERVICE_ENV: "development", ...local })).toEqual([]);
  });
});

describe("network and prover [S5.5-prover-mismatch S5.5-prover-production S5.5-prover-development]", () => {
  const DEVELOPMENT = { SERVICE_ENV: "development" };

  it("fit together as development with localnet, and as hosted with every other network", () => {
    for (const mode of [PRODUCTION, DEVELOPMENT]) {
      for (const network of CHAIN_NETWORKS) {
        const environment = { ...mode, ...PROVIDER, SERVICE_CHAIN_NETWORK: network };
        const development = problemsOf({ ...environment, SERVICE_PROVER: "development" });
        const hosted = problemsOf({ ...environment, ...HOSTED });
        const isLocal = network === "localnet";
        const atHome = mode === DEVELOPMENT ? [] : [expect.stringMatching(/^SERVICE_PROVER: .* is for development/)];
        expect(development).toEqual(
          isLocal ? atHome : [expect.stringMatching(new RegExp(`^SERVICE_PROVER: ${network} rejects the development`))],
        );
        expect(hosted).toEqual(isLocal ? [expect.stringMatching(/^SERVICE_PROVER: localnet rejects a hosted/)] : []);
      }
    }
  });

  it("follow SERVICE_ENV: localnet in development, mainnet in production", () => {
    expect(problemsOf({ SERVICE_ENV: "development", ...PROVIDER, SERVICE_PROVER: "development" })).toEqual([]);
    expect(problemsOf({ SERVICE_ENV: "development", ...PROVIDER, ...HOSTED })).toEqual([
      expect.stringContaining("localnet rejects a hosted prover's proofs; set SERVICE_PROVER=development"),
    ]);
    expect(problemsOf({ ...PRODUCTION, ...PROVIDER, ...HOSTED })).toEqual([]);
    expect(problemsOf({ ...PRODUCTION, ...PROVIDER, SERVICE_PROVER: "development" })).toEqual([
      expect.stringContaining("mainnet rejects the development prover's proofs"),
    ]);
  });

  it("say what is missing, and never a value", () => {
    const environment = { ...PRODUCTION, ...HOSTED, SERVICE_PROVER_URL: "", SERVICE_CHAIN_NETWORK: "testnet" };
    const problems = problemsOf(environment);
    expect(problems).toEqual([
      expect.stringContaining("set SERVICE_IDP_ISSUER"),
      expect.stringMatching(/^SERVICE_PROVER_URL: /),
    ]);
    expect(problemsOf({ ...environment, ...PROVIDER, SERVICE_PROVER_API_KEY: "" })).toEqual([
      expect.stringMatching(/^SERVICE_PROVER_URL: /),
      expect.stringMatching(/^SERVICE_PROVER_API_KEY: /),
    ]);
    expect(problems.join()).not.toContain(HOSTED.SERVICE_PROVER_API_KEY);
  });

  it("are asked of production with an identity provider: hosted, with its key, or it does not start [D0-prover-demanded S5.5-prover-production]", () => {
    for (const SERVICE_CHAIN_NETWORK of ["testnet", "mainnet"]) {
      const environment = { ...PRODUCTION, ...PROVIDER, SERVICE_CHAIN_NETWORK };
      expect(problemsOf(environment)).toEqual([
        expect.stringMatching(/^SERVICE_PROVER: production .* set SERVICE_PROVER=hosted.* SERVICE_PROVER_API_KEY$/),
      ]);
      expect(problemsOf({ ...environment, ...HOSTED, SERVICE_PROVER_API_KEY: "" })).toEqual([
        expect.stringMatching(/^SERVICE_PROVER_API_KEY: /),
      ]);
      expect(problemsOf({ ...environment, ...HOSTED })).toEqual([]);
      expect(problemsOf({ ...environment, ...DEVELOPMENT })).toEqual([]);
      expect(problemsOf({ ...PRODUCTION, SERVICE_CHAIN_NETWORK })).toEqual([]);
    }
    // The vendor's development prover is a hosted one at another address.
    const vendor = { ...HOSTED, SERVICE_PROVER_URL: "https://prover-dev.example", SERVICE_CHAIN_NETWORK: "testnet" };
    expect(problemsOf({ ...DEVELOPMENT, ...PROVIDER, ...vendor })).toEqual([]);
  });

  it("name the prover and its key to the server [D0-prover-key]", () => {
    expect(parseConfig({ ...PRODUCTION, ...PROVIDER, ...HOSTED }).prover).toEqual({
      kind: "hosted",
      url: HOSTED.SERVICE_PROVER_URL,
      apiKey: HOSTED.SERVICE_PROVER_API_KEY,
    });
    expect(problemsOf({ ...PRODUCTION, SERVICE_PROVER: "vendor" })).toEqual([
      expect.stringMatching(/^SERVICE_PROVER: expected/),
    ]);
  });
});

describe("the identity provider", () => {
  it("needs a client id", () => {
    expect(problemsOf({ ...PRODUCTION, ...PROVIDER, ...HOSTED, SERVICE_IDP_CLIENT_ID: "" })).toEqual([
      expect.stringMatching(/^SERVICE_IDP_CLIENT_ID: /),
    ]);
  });

  it("is asked in the clear on this machine only, and so is the prover", () => {
    for (const issuer of ["http://127.0.0.1:4000", "http://localhost:4000", "https://issuer.example"]) {
      expect(problemsOf({ ...PRODUCTION, ...PROVIDER, ...HOSTED, SERVICE_IDP_ISSUER: issuer })).toEqual([]);
    }
    for (const issuer of ["http://issuer.example", "http://10.0.0.1:4000", "http://localhost.example"]) {
      expect(problemsOf({ ...PRODUCTION, ...PROVIDER, ...HOSTED, SERVICE_IDP_ISSUER: issuer })).toEqual([
        expect.stringMatching(/^SERVICE_IDP_ISSUER: .*https/),
      ]);
    }
    expect(problemsOf({ ...PRODUCTION, ...PROVIDER, ...HOSTED, SERVICE_PROVER_URL: "http://prover.example" })).toEqual([
      expect.stringMatching(/^SERVICE_PROVER_URL: .*https/),
    ]);
  });
});

it("keys for access tokens have names of their own: of two with one name the first would sign what nobody accepts", () => {
  const [one, two] = [1, 2].map(() => randomBytes(32).toString("base64"));
  expect(problemsOf({ ...PRODUCTION, SERVICE_JWT_KEYS: `a:${one},b:${two}` })).toEqual([]);
  expect(problemsOf({ ...PRODUCTION, SERVICE_JWT_KEYS: `a:${one},a:${two}` })).toEqual([
    expect.stringMatching(/^SERVICE_JWT_KEYS: .*a name of its own/),
  ]);
});

it("production takes no invite without a signature, development when it is told to", () => {
  const lax = { SERVICE_ALLOW_UNSIGNED_REDEEM: "1" };
  expect(problemsOf({ ...PRODUCTION, ...lax })).toEqual([expect.stringMatching(/^SERVICE_ALLOW_UNSIGNED_REDEEM: /)]);
  expect(problemsOf({ ...PRODUCTION, SERVICE_ALLOW_UNSIGNED_REDEEM: "0" })).toEqual([]);
  expect(parseConfig({ SERVICE_ENV: "development", ...lax }).settings.allowUnsignedRedeem).toBe(true);
  expect(parseConfig({ SERVICE_ENV: "development" }).settings.allowUnsignedRedeem).toBe(false);
});
