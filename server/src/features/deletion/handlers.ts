/** The challenges that a shared vault's owner signs before something of it is deleted (decision 0030). */
import { type api, DELETION_MINUTES } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { makeChallenge } from "../chain-proofs/challenges.ts";
import { readVaultOrTrashed, requireOwner, requireShared } from "../reach/access.ts";
import { purposeOf } from "./grants.ts";

type Needs = Pick<Deps, "database" | "clock" | "random">;

export const deletionHandlers = (deps: Needs): GroupHandlers<typeof api.deletion> => ({
  challenge: async ({ params, body: { act, fileId, versionId } }, { principal }) => {
    const vault = await readVaultOrTrashed(deps.database, principal, params.vaultId);
    requireOwner(vault);
    requireShared(vault);
    if ((act === "delete-file" || act === "delete-version") !== (fileId !== undefined))
      throw new ServiceError("validation_failed", "body.fileId: for the acts delete-file and delete-version alone");
    if ((act === "delete-version") !== (versionId !== undefined))
      throw new ServiceError("validation_failed", "body.versionId: for the act delete-version alone");
    const purpose = purposeOf({ act, vaultId: vault.id, fileId, versionId });
    return makeChallenge(deps, principal, { purpose, lifetime: DELETION_MINUTES * 60_000 });
  },
});
