/**
 * Calls of what only shared vaults have. They need a chain, which the server here has none of: whoever is let in learns that the vault is
 * a public one.
 */
import { randomBytes } from "node:crypto";
import type { ErrorCode, Scope } from "@coffer/contract";
import type { Call } from "./world.ts";

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

export interface Sample {
  /** Which objects the call changes or needs; others keep a made-up id. */
  readonly needs: readonly (keyof Objects)[];
  /** The objects are put in the trash first. */
  readonly trashed?: boolean;
  /** What the endpoint's own code answers whoever is let in, where the world lacks an outside part; absent: a success. */
  readonly outcome?: ErrorCode;
  /** Scopes that the caller's key needs besides the endpoint's, because the call passes them on. */
  readonly passesOn?: readonly Scope[];
  readonly secret?: keyof Secrets;
  readonly call: (objects: Objects, secret: string) => Omit<Call, "method">;
}

/** The ids that a call names. The vault limit is judged by `vaultId`. */
export interface Objects {
  readonly vaultId: string;
  readonly folderId: string;
  readonly fileId: string;
  readonly uploadId: string;
  readonly keyId: string;
  readonly inviteId: string;
  readonly sessionId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
}

/** What open endpoints ask for instead of a credential; each is used up by its call. */
export interface Secrets {
  readonly accessCode: string;
  readonly inviteCode: string;
  readonly refreshToken: string;
  readonly verifyToken: string;
  readonly resetToken: string;
}
