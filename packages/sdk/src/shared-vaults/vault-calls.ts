/** The calls behind the parts of VaultResource and AgentResource that are about shared vaults. */
import type { Connection, CallOptions } from "../connection/options.ts";
import { checkVaultAccess } from "./keys/check-access.ts";
import { exportVault, type ExportOptions } from "./export/export.ts";
import type { ExportStore } from "./export/export-layout.ts";
import { forgetSeen, type ForgetSeenOptions } from "./trust/forget-seen.ts";
import { createSharedVault, type NewSharedVault } from "./create-vault.ts";
import {
  addVaultMember,
  listMembers,
  removeVaultMember,
  setMemberUntil,
  type AddMemberOptions,
  type AgentOfInvite,
} from "./members/members.ts";
import type { Until } from "./members/membership-end.ts";
import { vaultReaders } from "./members/readers.ts";
import { type AcceptOptions, acceptVault, leaveVault, offerVault, setVaultSigningKey } from "./members/owner-acts.ts";
import { resealVault } from "./keys/reseal.ts";
import { revokeAgent, type RevokeOptions } from "./members/revoke-agent.ts";
import { rotateVault, type RotationOptions } from "./rotation/rotate.ts";
import { trustOwner, trustVault, type ToldOfVault } from "./trust/trust-acts.ts";

export function vaultCalls(connection: Connection) {
  return {
    createShared: (vault: NewSharedVault, options?: CallOptions) => createSharedVault(connection, vault, options),
    checkAccess: (vaultId: string, options?: CallOptions) => checkVaultAccess(connection, vaultId, options),
    readers: (vaultId: string, options?: CallOptions) => vaultReaders(connection, vaultId, options),
    leave: (vaultId: string, options?: CallOptions) => leaveVault(connection, vaultId, options),
    setSigningKey: (vaultId: string, signingKey?: Uint8Array, options?: CallOptions) =>
      setVaultSigningKey(connection, vaultId, signingKey, options),
    offerOwnership: (vaultId: string, chainAddress: string | null, options?: CallOptions) =>
      offerVault(connection, vaultId, chainAddress, options),
    acceptOwnership: (vaultId: string, options?: AcceptOptions) => acceptVault(connection, vaultId, options),
    trust: (vaultId: string, facts: ToldOfVault, options?: CallOptions) =>
      trustVault(connection, vaultId, facts, options),
    trustOwner: (vaultId: string, chainAddress: string, options?: CallOptions) =>
      trustOwner(connection, vaultId, chainAddress, options),
    list: (vaultId: string, options?: CallOptions) => listMembers(connection, vaultId, options),
    add: (vaultId: string, who: string | AgentOfInvite, options?: AddMemberOptions) =>
      addVaultMember(connection, vaultId, who, options),
    setUntil: (vaultId: string, chainAddress: string, until: Until, options?: CallOptions) =>
      setMemberUntil(connection, vaultId, chainAddress, until, options),
    remove: (vaultId: string, chainAddress: string, options?: CallOptions) =>
      removeVaultMember(connection, vaultId, chainAddress, options),
    export: (vaultId: string, store: ExportStore, options?: ExportOptions) =>
      exportVault(connection, vaultId, store, options),
    forgetSeen: (vaultId: string, options?: ForgetSeenOptions) => forgetSeen(connection, vaultId, options),
    reseal: (vaultId: string, options?: CallOptions) => resealVault(connection, vaultId, options),
    rotate: (vaultId: string, options?: RotationOptions) => rotateVault(connection, vaultId, options),
    revoke: (keyId: string, options?: RevokeOptions) => revokeAgent(connection, keyId, options),
  };
}
