/** Vault keys as the service keeps them: sealed and signed records, which it cannot open (encryption design §2, "records"). */
import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers } from "../../handler.ts";
import { parsePage, toPage } from "../paging.ts";
import { readVaultFor, requireMember, requireShared } from "../reach/access.ts";
import { parseKeyRecord, parseLadderStep } from "../shared-vaults/statements.ts";
import { listSteps } from "./ladder-store.ts";
import { publishKey, toVaultKey } from "./publishing.ts";
import { listKeys, positionOf } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "chain">;

export const vaultKeysHandlers = (deps: Needs): GroupHandlers<typeof api.vaultKeys> => ({
  list: async ({ params, query }, { principal }) => {
    const vault = await readVaultFor(deps.database, principal, params.vaultId);
    requireShared(vault);
    await requireMember(deps, principal, vault);
    const page = parsePage("vault-keys", query);
    const generation = query.generation === undefined ? undefined : Number(query.generation);
    const found = await listKeys(deps.database, { vaultId: vault.id, generation }, page);
    const { rows, nextCursor } = toPage(found.map(positionOf), page);
    return { keys: rows.map(toVaultKey), nextCursor };
  },

  publish: async ({ params, body }, context) => {
    const vault = await readVaultFor(deps.database, context.principal, params.vaultId);
    requireShared(vault);
    const steps = (body.steps ?? []).map(({ step, to }) => ({ step, to, parsed: parseLadderStep(step) }));
    const wanted = { record: parseKeyRecord(body.record), text: body.record, replaces: body.replaces ?? null, steps };
    return publishKey(deps, context, vault, wanted);
  },

  steps: async ({ params, query }, { principal }) => {
    const vault = await readVaultFor(deps.database, principal, params.vaultId);
    requireShared(vault);
    await requireMember(deps, principal, vault);
    const page = parsePage("ladder-steps", query);
    const found = await listSteps(deps.database, vault.id, page);
    const { rows, nextCursor } = toPage(found, page);
    return { steps: rows.map(({ step }) => step), nextCursor };
  },
});
