import { expect, it } from "vitest";
import { OutcomeRecorder } from "./outcomes.ts";

const URL = "https://key-server.example/v1/fetch_key";

/** As a key server writes them: 88 bytes of identity as numbers, two points in base64. */
const answerOf = (keys: number): string => {
  const key = { id: Array.from({ length: 88 }, () => 255), encrypted_key: ["A".repeat(64), "A".repeat(64)] };
  return JSON.stringify({ decryption_keys: Array.from({ length: keys }, () => key) });
};

it.each([1, 100])(
  "reads an answer of %d keys, and none with many more: each costs milliseconds to check",
  async (keys) => {
    const recorder = (answer: string) => new OutcomeRecorder(async () => new Response(answer), keys);
    expect(await (await recorder(answerOf(keys)).fetch(URL)).json()).toEqual(JSON.parse(answerOf(keys)));
    const hostile = recorder(answerOf(3 * keys + 30));
    await expect(hostile.fetch(URL)).rejects.toThrow("longer than a key server's");
    expect(hostile.of("https://key-server.example")).toEqual({ kind: "unreachable" });
  },
);

it("carries certificate and API key to no other address", async () => {
  const asked: unknown[] = [];
  const recorder = new OutcomeRecorder(async (_, init) => {
    asked.push(init?.redirect);
    return new Response("{}");
  }, 1);
  await recorder.fetch(URL, { method: "POST" });
  expect(asked).toEqual(["manual"]);
});

it("follows nothing that points elsewhere, and says so", async () => {
  const elsewhere = { status: 307, headers: { location: "https://elsewhere.example/v1/fetch_key" } };
  const recorder = new OutcomeRecorder(async () => new Response(null, elsewhere), 1);
  expect((await recorder.fetch(URL)).ok).toBe(false);
  expect(recorder.of("https://key-server.example")).toEqual({ kind: "redirected" });
});

it.each([
  [null, "foreign"],
  ["", "foreign"],
  ["new", "foreign"],
  ["0.4.0", "outdated"],
  ["0.3.99", "outdated"],
  ["0.4.1", "answered"],
  ["0.10.0", "answered"],
  ["1.0.0-rc.1", "answered"],
])("of a server that calls its version %j: %s", async (version, kind) => {
  const headers = version === null ? {} : { "x-keyserver-version": version };
  const recorder = new OutcomeRecorder(async () => new Response(answerOf(1), { headers }), 1);
  await recorder.fetch(URL);
  expect(recorder.of("https://key-server.example")).toEqual({ kind });
});
