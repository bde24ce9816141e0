import { expect, it } from "vitest";
import { ConfirmationTokens } from "./confirmation-tokens.ts";

const binding = { tool: "file_delete", args: { files: ["a"], vaultId: "v" }, state: ["a 1"] };

it("a token holds once, for the same tool, arguments and state, for ten minutes", () => {
  let now = 1_000_000;
  const confirmations = new ConfirmationTokens(() => now);
  const token = confirmations.issue(binding);
  for (const other of [
    { ...binding, tool: "file_move" },
    { ...binding, args: { files: ["b"], vaultId: "v" } },
    { ...binding, state: ["a 2"] },
  ])
    expect(confirmations.redeem(token, other)).toBe(false);
  for (let at = 0; at < token.length; at += 1) {
    const changed = `${token.slice(0, at)}${token[at] === "a" ? "b" : "a"}${token.slice(at + 1)}`;
    expect(confirmations.redeem(changed, binding)).toBe(false);
  }
  expect(new ConfirmationTokens(() => now).redeem(token, binding)).toBe(false);
  // The order of arguments is no difference.
  expect(confirmations.redeem(token, { ...binding, args: { vaultId: "v", files: ["a"] } })).toBe(true);
  expect(confirmations.redeem(token, binding)).toBe(false);
  const late = confirmations.issue(binding);
  now += 600_001;
  expect(confirmations.redeem(late, binding)).toBe(false);
});
