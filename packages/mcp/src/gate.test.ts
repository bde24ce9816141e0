import type { Client } from "@coffer/sdk";
import { describe, expect, it } from "vitest";
import { createGate, type Gate } from "./gate.ts";

const VAULT = "0b6d5e0e-6a3b-4f0f-9e0a-1c2d3e4f5a6b";
const OWN = `0x${"11".repeat(32)}`;

/** A gate before a client whose methods are all noted, in a vault of one's own that nobody else reads. */
function openGate(parts: { isClosed?: boolean; isCallAgreed?: boolean } = {}) {
  const called: string[] = [];
  const asked: string[] = [];
  const anything = (path: string): object =>
    new Proxy(() => undefined, {
      get: (_target, name) => (name === "baseUrl" ? "http://coffer.test" : anything(`${path}.${String(name)}`)),
      apply: (_target, _this, args: unknown[]) => {
        if (path === ".vaults.readers") return Promise.resolve({ chainAddresses: [OWN], service: false });
        called.push(`${path.slice(1)} ${JSON.stringify(args)}`);
        return Promise.resolve("done");
      },
    });
  const gate = createGate({
    client: anything("") as Client,
    credentialState: { agreed: new Set() },
    pinnedVault: null,
    ownAddress: OWN,
    isClosed: parts.isClosed ?? false,
    signal: new AbortController().signal,
    isCallAgreed: () => parts.isCallAgreed ?? false,
    ask: (preview) => {
      asked.push(preview);
      return Promise.reject(new Error("nobody agrees"));
    },
  });
  return { gate, called, asked };
}

const OUTSIDE: Readonly<Record<string, (client: Client) => PromiseLike<unknown>>> = {
  "an invite": ({ invites }) => invites.create({ name: "x" }),
  "a member": ({ vaults }) => vaults.members.add(VAULT, OWN),
  "a webhook": ({ webhooks }) => webhooks.create({ url: "https://receiver.example", events: ["*"] }),
  "a webhook's new address": ({ webhooks }) => webhooks.update(VAULT, { url: "https://receiver.example" }),
};

describe.each(Object.entries(OUTSIDE))("%s", (_, act) => {
  it("needs a person's yes to this very call, whether its tool asks or not [T1]", async () => {
    const { gate, called, asked } = openGate();
    await expect(act(gate.client)).rejects.toThrow("nobody agrees");
    expect([called, asked.length]).toEqual([[], 1]);
    const agreed = openGate({ isCallAgreed: true });
    await act(agreed.gate.client);
    expect([agreed.called.length, agreed.asked]).toEqual([1, []]);
  });
});

it("a write that names no vault is refused, and so is what tools have no use for", async () => {
  const { gate, called } = openGate();
  const files = (client: Gate["client"]) => client.files;
  await expect(files(gate.client).upload({ name: "x", body: "x" })).rejects.toMatchObject({ code: "unexpected" });
  await expect(files(gate.client).update(VAULT, { name: "x" })).rejects.toMatchObject({ code: "unexpected" });
  expect(called).toEqual([]);
  expect(Object.keys(gate.client)).not.toContain("call");
  expect(Object.keys(gate.client.vaults)).not.toContain("setSigningKey");
});

it("what nobody else reads is sent without a question, and a list that is held back can still be iterated", async () => {
  const { gate, called, asked } = openGate({ isClosed: true });
  await gate.client.files.upload({ vaultId: VAULT, name: "x", body: "x" });
  expect([called.length, asked]).toEqual([1, []]);
  const refused = async (): Promise<void> => {
    for await (const file of gate.client.files.list({ name: "x" })) called.push(file.id);
  };
  await expect(refused()).rejects.toThrow("nobody agrees");
  expect([called.length, asked.length]).toEqual([1, 1]);
});
