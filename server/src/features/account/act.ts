/**
 * The account is the unit of writing (docs/decisions/0032-the-account-is-the-unit-of-writing.md): what belongs to one is changed in an act
 * of it, which begins by locking its row. So all that an act reads of its account is as it is now, until the end, and nobody counts,
 * chains or changes beside it.
 */
import { KEY_REFUSALS } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import type { Queries, TransactionOptions } from "../../ports/database.ts";
import type { AccountRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { accessLevelOf, keyRefusal } from "./lives.ts";
import { findKeyLife } from "./lives-store.ts";
import { type Change, insertChained } from "../changes/store.ts";
import { isLiveSession } from "./lives.ts";
import { findSessionLife } from "./lives-store.ts";
import { limitsOf } from "./rules.ts";
import { type AccountColumns, markPart, writeAccount } from "./store.ts";

export type ActDeps = Pick<Deps, "database" | "clock" | "random">;

/** A change of the act's account. `accountId`, where it is said, must be that one. */
export type NewChange = Omit<Change, "accountId" | "id" | "occurredAt"> & { readonly accountId?: string };

/**
 * One act of one account: its queries, and the account as the act has made it so far. The account's row is written
 * once, at the end. So nothing else in the act reads or writes its fields.
 */
export class AccountAct implements Queries {
  readonly build: Queries["build"];
  readonly #queries: Queries;
  readonly #deps: Pick<ActDeps, "clock" | "random">;
  #account: Readonly<AccountRow>;
  #changed: Partial<AccountColumns> = {};
  #writtenRows = 0;

  constructor(deps: Pick<ActDeps, "clock" | "random">, queries: Queries, account: AccountRow) {
    this.build = queries.build;
    this.#deps = deps;
    this.#queries = queries;
    this.#account = account;
  }

  /** With all that the act has changed. */
  get account(): Readonly<AccountRow> {
    return this.#account;
  }

  all: Queries["all"] = (query) => this.#queries.all(query);
  first: Queries["first"] = (query) => this.#queries.first(query);
  run: Queries["run"] = async (query) => {
    const rows = await this.#queries.run(query);
    this.#writtenRows += rows;
    return rows;
  };

  /** How many rows the act has written so far. */
  get writtenRows(): number {
    return this.#writtenRows;
  }

  /** Runs a part of the act. A refusal undoes this part alone and is the result; any other error ends the act. */
  async attempt<Result>(work: () => Promise<Result>): Promise<Result | ServiceError> {
    const [account, changed] = [this.#account, { ...this.#changed }];
    await markPart(this.#queries, "savepoint part");
    try {
      const result = await work();
      await markPart(this.#queries, "release part");
      return result;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      await markPart(this.#queries, "rollback to part");
      await markPart(this.#queries, "release part");
      [this.#account, this.#changed] = [account, changed];
      return error;
    }
  }

  /** For what was found by its own id: it may be another account's. Then that one's act does it all again, see {@link actAs}. */
  requireAccount(accountId: string): void {
    if (accountId !== this.#account.id) throw new OtherAccount(accountId);
  }

  /** Counts what the account holds from now on. Less is always possible. Throws `storage_quota`. */
  charge({ settings }: Pick<Deps, "settings">, { bytes, files }: { bytes: number; files: number }): void {
    const { plan, usage_bytes } = this.#account;
    if (bytes > 0 && usage_bytes + bytes > limitsOf(plan, settings).storageBytes)
      throw new ServiceError("storage_quota");
    this.free({ bytes: -bytes, files: -files });
  }

  /** Counts what the account does not hold any more. */
  free({ bytes, files }: { bytes: number; files: number }): void {
    const { usage_bytes, usage_files } = this.#account;
    this.change({ usage_bytes: usage_bytes - bytes, usage_files: usage_files - files });
  }

  /** Counts bytes of {@link charge} for kept versions from now on, or, below 0, no more. */
  countVersions(bytes: number): void {
    this.change({ usage_version_bytes: this.#account.usage_version_bytes + bytes });
  }

  /** Writes the change's row: with the account's next number, chained to the change before it. Resolves with the number. */
  async record({ accountId = this.#account.id, ...change }: NewChange): Promise<number> {
    this.requireAccount(accountId);
    const { clock, random } = this.#deps;
    const { sequence, changes_hash } = this.#account;
    const noted = { ...change, accountId, id: random.uuid(), occurredAt: clock.now() };
    const hash = await insertChained(this, noted, { sequence: sequence + 1, previousHash: changes_hash });
    this.change({ sequence: sequence + 1, changes_hash: hash });
    return sequence + 1;
  }

  /** Other columns of the account's row. A constraint of theirs is looked at when the row is written, see {@link write}. */
  change(columns: Partial<AccountColumns>): void {
    this.#account = { ...this.#account, ...columns };
    Object.assign(this.#changed, columns);
  }

  /** Writes the account's row where it changed. The end of the act does it; who waits for a refusal does it before. */
  async write(): Promise<void> {
    const changed = this.#changed;
    this.#changed = {};
    await writeAccount(this, this.#account, changed);
  }

  /**
   * What revokes the caller may have had its turn first (decisions §4, "in-flight on revoke"). Throws `invalid_credential`, and
   * `owner_only` for a key that was the owner's when it called and is an agent's by now.
   */
  async requireLive({ keyId, sessionId, accessLevel }: Principal): Promise<void> {
    const now = this.#deps.clock.now();
    const session = sessionId === null ? null : await this.first(findSessionLife(this, { id: sessionId }));
    if (sessionId !== null && (session === null || !isLiveSession(session, now)))
      throw new ServiceError("invalid_credential");
    if (keyId === null) return;
    const key = await this.first(findKeyLife(this, { id: keyId }));
    if (key === null) throw new ServiceError("invalid_credential");
    const refusal = keyRefusal(key, now);
    if (refusal !== null) throw new ServiceError("invalid_credential", KEY_REFUSALS[refusal]);
    const level = accessLevelOf(key.chain_address, key.account_chain_address);
    if (accessLevel === "owner" && level !== "owner") throw new ServiceError("owner_only");
  }
}

/** Ends an attempt that began with the wrong account; never leaves this file. */
class OtherAccount extends Error {
  override readonly name = "OtherAccount";
  readonly accountId: string;
  constructor(accountId: string) {
    super("an act of one account met what is another's");
    this.accountId = accountId;
  }
}

/** How often an act begins again because what it is about has gone to yet another account. */
const ATTEMPTS = 5;

/** Runs `work` as an act of the account; where what it meets has gone to another account meanwhile, as that one's. */
export function actOn<Result>(
  deps: ActDeps,
  accountId: string,
  work: (act: AccountAct) => Promise<Result>,
  options?: TransactionOptions,
): Promise<Result> {
  return following(accountId, (id) => actOnLocked(deps, [id], (actOf) => work(actOf(id)), options));
}

/**
 * Runs `work` as an act of the caller's account. A member works on another account's vault. Then `work` meets that
 * account, its reads are rolled back, and it runs again as an act of that account, with the caller's locked too. If
 * the vault has gone on meanwhile, it runs once more. A caller that has the vault's account passes it: `accountId`.
 * Throws what {@link AccountAct.requireLive} does. Ending a credential is an act of the account as well, so after that
 * answer nothing of the credential's work is written.
 */
export function actAs<Result>(
  deps: ActDeps,
  principal: Principal,
  work: (act: AccountAct) => Promise<Result>,
  options: TransactionOptions & { readonly accountId?: string } = {},
): Promise<Result> {
  return following(options.accountId ?? principal.accountId, (accountId) =>
    actOnLocked(
      deps,
      [principal.accountId, accountId],
      async (actOf) => {
        const act = actOf(accountId);
        await act.requireLive(principal);
        return work(act);
      },
      options,
    ),
  );
}

/** The same on a full disk too: for acts that give room back, or that end what could do harm. */
export function actOnFullDisk<Result>(
  deps: ActDeps,
  principal: Principal,
  work: (act: AccountAct) => Promise<Result>,
): Promise<Result> {
  return actAs(deps, principal, work, { freesSpace: true });
}

/** Each account's part of one act. One that `work` asks for and that is not locked yet is locked, and it runs again. */
export type ActOf = (accountId: string) => AccountAct;

/** Runs `work` as one act of the accounts, and of others that it turns out to need. */
export async function actOnAll<Result>(
  deps: ActDeps,
  accountIds: readonly string[],
  work: (actOf: ActOf, transaction: Queries) => Promise<Result>,
  options?: TransactionOptions,
): Promise<Result> {
  for (const locked = [...accountIds]; ;) {
    try {
      return await actOnLocked(deps, locked, work, options);
    } catch (error) {
      if (!(error instanceof OtherAccount) || locked.includes(error.accountId)) throw error;
      locked.push(error.accountId);
    }
  }
}

/** Begins again with the account that an attempt met. */
async function following<Result>(accountId: string, attempt: (accountId: string) => Promise<Result>): Promise<Result> {
  for (let [left, current] = [ATTEMPTS, accountId]; ; left -= 1) {
    try {
      return await attempt(current);
    } catch (error) {
      if (!(error instanceof OtherAccount) || left === 1) throw error;
      current = error.accountId;
    }
  }
}

function actOnLocked<Result>(
  deps: ActDeps,
  accountIds: readonly string[],
  work: (actOf: ActOf, transaction: Queries) => Promise<Result>,
  options?: TransactionOptions,
): Promise<Result> {
  return deps.database.act(
    accountIds,
    async (transaction, accounts) => {
      const acts = accounts.map((account) => new AccountAct(deps, transaction, account));
      const result = await work((accountId) => {
        if (!accountIds.includes(accountId)) throw new OtherAccount(accountId);
        const act = acts.find(({ account }) => account.id === accountId);
        if (act === undefined) throw new ServiceError("invalid_credential");
        return act;
      }, transaction);
      for (const act of acts) await act.write();
      return result;
    },
    options,
  );
}

/** Goes on with an account that the transaction has just made: nobody else has met it, so it needs no lock. */
export async function actOnNew<Result>(
  deps: Pick<ActDeps, "clock" | "random">,
  transaction: Queries,
  account: AccountRow,
  work: (act: AccountAct) => Promise<Result>,
): Promise<Result> {
  const act = new AccountAct(deps, transaction, account);
  const result = await work(act);
  await act.write();
  return result;
}
