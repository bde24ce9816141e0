/** `coffer-server vaults …`: for an owner who has lost the chain key (decision 0030). Works beside a running server. */
import type { Config } from "../config.ts";
import { type AccountAct, type ActDeps, actOn } from "../features/account/act.ts";
import { grantByService } from "../features/deletion/grants.ts";
import { purgeVault, trashVault } from "../features/vaults/deleting.ts";
import { finishPurges } from "../features/vaults/purging.ts";
import { findVaultOfAny } from "../features/ownership/store.ts";
import { systemClock } from "../ports/clock.ts";
import { systemRandom } from "../ports/random.ts";
import { openExisting } from "../storage.ts";
import { type OperatorCommand, tellingMigrations } from "./command.ts";
import { FLAG, read, usageError } from "./options.ts";

const EXIT_DONE = 0;
const EXIT_REFUSED = 1;
const OPERATOR = { kind: "operator" } as const;

export const deleteVaults: OperatorCommand = {
  words: "vaults delete",
  options: "<id> [--permanent]",
  about:
    "Moves a vault to its account's trash, for an owner who has lost the chain key. --permanent deletes it for good: its contents leave the disk after 24 hours in quarantine. The audit log names the operator.",
  async run(config: Config, words, streams) {
    const { values, positionals } = read(deleteVaults, words, { permanent: FLAG }, 1);
    const [id] = positionals;
    if (id === undefined) throw usageError(deleteVaults, "the vault's id is missing");
    await using database = await openExisting(config, tellingMigrations(streams));
    const deps = { database, clock: systemClock, random: systemRandom, settings: config.settings };
    const { status, note } = await deleteOne(deps, id.toLowerCase(), values.permanent === true);
    // A running server would do it as well.
    await finishPurges(deps, new AbortController().signal);
    streams.note(`${note}\n`);
    return status;
  },
};

type Needs = ActDeps & Parameters<typeof purgeVault>[1];

async function deleteOne(deps: Needs, id: string, permanent: boolean): Promise<Deleted> {
  const found = await findVaultOfAny(deps.database, id);
  if (found === null) return thereIsNone(id);
  return actOn(deps, found.account_id, (act) => deleteIn(deps, act, id, permanent), { freesSpace: true });
}

interface Deleted {
  readonly status: number;
  readonly note: string;
}

async function deleteIn(deps: Needs, act: AccountAct, id: string, permanent: boolean): Promise<Deleted> {
  const vault = await findVaultOfAny(act, id);
  if (vault === null) return thereIsNone(id);
  // Handed on meanwhile: it is not the account any more that the operator was asked by.
  act.requireAccount(vault.account_id);
  if (vault.default_vault_id === id) return { status: EXIT_REFUSED, note: "An account's default vault stays" };
  const grant = grantByService(id);
  if (permanent) {
    await purgeVault(act, deps, OPERATOR, vault, grant);
    return {
      status: EXIT_DONE,
      note: "Deleted for good; the contents leave the disk after 24 hours. What is on the chain stays there",
    };
  }
  if (vault.trashed_at !== null) return { status: EXIT_DONE, note: "It was in the trash before" };
  await trashVault(act, deps, OPERATOR, vault, grant);
  return { status: EXIT_DONE, note: "It is in the trash for 30 days: its owner can restore it until then" };
}

function thereIsNone(id: string): Deleted {
  return { status: EXIT_REFUSED, note: `There is no vault with the id ${JSON.stringify(id)}` };
}
