import { expect, it } from "vitest";
import { createClient } from "../client.ts";
import { Secret } from "../http/secret.ts";

const baseUrl = "http://127.0.0.1:1";
const open = (options: object) => () => createClient({ baseUrl, ...options });

it.each([
  [{ timeout: 1 }, "did you mean timeouts?"],
  [{ baseURL: "http://127.0.0.1:2" }, "did you mean baseUrl?"],
  [{ apiKey: "cof_secret" }, "the options are baseUrl, credentials"],
  [{ retry: { limits: 3 } }, "did you mean limit?"],
  [{ timeouts: { attempt: 3 } }, "did you mean attemptMs?"],
])("refuses an option that nobody reads: %j", (options, hint) => {
  expect(open(options)).toThrow(
    expect.objectContaining({ code: "configuration", message: expect.stringContaining(hint) as string }) as Error,
  );
});

it.each([
  ["the key itself", "cof_thekey", "pass { apiKey }"],
  ["a number", 12_345, "pass { apiKey }"],
  ["a cloned Secret", { apiKey: structuredClone(new Secret("cof_thekey") as object) }, "pass the text"],
  ["something else", { token: "cof_thekey" }, "missing or malformed"],
])("refuses credentials that are %s, and quotes none of it", (_, credentials, hint) => {
  expect(open({ credentials })).toThrow(
    expect.objectContaining({ code: "configuration", message: expect.stringContaining(hint) as string }) as Error,
  );
  expect(open({ credentials })).not.toThrow(/thekey|12.?345/);
});
