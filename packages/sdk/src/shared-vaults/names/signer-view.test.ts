/** Which claims a reader waits for: those of members at a place that the chain reaches in a moment. */
import { NO_END, type VaultView } from "@coffer/crypto";
import { expect, it } from "vitest";
import type { OpenVault } from "../open-vault.ts";
import { viewNaming } from "./signer-view.ts";

const NOW = 1_800_000_000_000n;
const address = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const entry = { signingKey: address(9), since: 1n };
const ENDS_SOON = NOW + 20_000n;
const seen: VaultView = {
  vault: address(1),
  generation: 1n,
  floor: 1n,
  base: 1n,
  time: NOW,
  plainNames: false,
  former: [],
  owner: { ...entry, address: address(2), endsAt: NO_END },
  members: [
    { ...entry, address: address(3), endsAt: NO_END, until: null },
    { ...entry, address: address(4), endsAt: ENDS_SOON, until: null },
  ],
};

it.each([
  ["a member, at a place of a moment later", 3, 1n, 20_000n, NOW + 20_000n],
  ["a member, as late as two nodes may differ", 3, 1n, 60_000n, NOW + 60_000n],
  ["a member, at a place that is too far away", 3, 1n, 60_001n, null],
  ["a member, at a place that has come", 3, 1n, 0n, null],
  ["a member, in a later generation", 3, 2n, 20_000n, null],
  ["a member that has ended by then", 4, 1n, 20_000n, null],
  ["a stranger", 5, 1n, 20_000n, null],
])("waits, or does not, for what was signed by %s", async (_who, signer, generation, ahead, awaited) => {
  const hinted: unknown[] = [];
  const view: OpenVault["view"] = (options) => {
    hinted.push(options?.hintedTime ?? null);
    return Promise.resolve(seen);
  };
  const far = { signer: address(3), generation: 1n, after: NOW + 900_000n };
  await viewNaming(view, [far, { signer: address(signer), generation, after: NOW + ahead }]);
  expect(hinted).toEqual(awaited === null ? [null, null] : [null, null, awaited]);
});
