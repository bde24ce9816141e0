/**
 * Calls of what only shared vaults have. They need a chain, which the server here has none of: whoever is let in learns that the vault is
 * a public one.
 */
import { randomBytes } from "node:crypto";
import type { Sample } from "./samples.ts";

const address = (): string => `0x${randomBytes(32).toString("hex")}`;

export const SHARED_VAULT_SAMPLES: Readonly<Record<string, Sample>> = {
  "members.list": {
    needs: ["vaultId"],
    outcome: "public_vault",
    call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}/members` }),
  },
  "members.add": {
    needs: ["vaultId"],
    outcome: "public_vault",
    call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}/members`, json: { chainAddress: address() } }),
  },
  "members.remove": {
    needs: ["vaultId"],
    outcome: "public_vault",
    call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}/members/${address()}` }),
  },
  "ownership.claim": {
    needs: ["vaultId"],
    outcome: "public_vault",
    call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}/claim`, json: {} }),
  },
  "deletion.challenge": {
    needs: ["vaultId"],
    outcome: "public_vault",
    call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}/deletion-challenge`, json: { act: "delete-vault" } }),
  },
  "vaultKeys.list": {
    needs: ["vaultId"],
    outcome: "public_vault",
    call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}/keys` }),
  },
  "vaultKeys.publish": {
    needs: ["vaultId"],
    outcome: "public_vault",
    call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}/keys`, json: { record: "AAAA" } }),
  },
  "folderNames.get": {
    needs: ["vaultId"],
    outcome: "public_vault",
    call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}/names` }),
  },
  "folderNames.stage": {
    needs: ["vaultId"],
    outcome: "public_vault",
    call: ({ vaultId }) => ({
      path: `/api/vaults/${vaultId}/names`,
      json: { folderId: null, keyId: "0".repeat(64), entries: [] },
    }),
  },
};
