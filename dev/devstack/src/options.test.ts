import { describe, expect, it } from "vitest";
import { limitsIn, parseStart } from "./options.ts";

it("takes limits and log level from the shell, and nothing of another service's address, mail, provider or secrets", () => {
  const taken = {
    SERVICE_LOG_LEVEL: "debug",
    SERVICE_FREE_STORAGE_BYTES: "1000",
    SERVICE_MAX_VAULTS: "2",
    SERVICE_RATE_GENERAL: "1",
    SERVICE_WEBHOOK_PROXY: "http://127.0.0.1:9",
    SERVICE_UPLOAD_HOURS: "1",
    SERVICE_CORS_ORIGINS: "http://localhost:5173",
  };
  const others = {
    SERVICE_PUBLIC_URL: "https://files.example.com",
    SERVICE_APP_URL: "https://files.example.com",
    SERVICE_SMTP_URL: "smtps://mail.example.com",
    SERVICE_IDP_ISSUER: "https://id.example.com",
    SERVICE_CHAIN_NETWORK: "sui:mainnet",
    SERVICE_MASTER_KEY: "secret",
    SERVICE_JWT_KEYS: "secret",
    PATH: "/bin",
    SERVICE_TRUSTED_PROXIES: "0.0.0.0/0",
    SERVICE_ALLOW_INSECURE_DEV: "1",
    SERVICE_PROVER_URL: "https://p.example",
  };
  expect(limitsIn({ ...others, ...taken })).toEqual(taken);
});

describe("an option that npm took for itself, for want of --", () => {
  const places = { workingDirectory: "/home/me", repository: "/coffer" };

  it.each([["port"], ["data"], ["folder"], ["once"], ["json"]])("is refused with what to write: --%s", (name) => {
    // `npm start --port 0` gives the program the word 0, and itself the setting.
    const parsed = parseStart(["0"], { ...places, environment: { [`npm_config_${name}`]: "true" } });
    expect(parsed).toMatchObject({ kind: "refuse", sentence: expect.stringContaining(`npm start -- --${name}`) });
  });

  it("npm's own settings are none", () => {
    const environment = { npm_config_loglevel: "silent", npm_config_prefix: "/usr" };
    expect(parseStart(["--port", "0"], { ...places, environment })).toMatchObject({ options: { port: 0 } });
  });
});
