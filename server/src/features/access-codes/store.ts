import type { Deps } from "../../deps.ts";
import { prepared, type Queries } from "../../ports/database.ts";
import type { AccessCodeRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";

export { hashAccessCode } from "./codes.ts";

export async function insertAccessCode(transaction: Queries, row: AccessCodeRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("access_codes").values(row));
}

const consumeUse = prepared((build, value: { hash: string; now: number }) =>
  build
    .updateTable("access_codes")
    .set((row) => ({ uses_left: row("uses_left", "-", 1) }))
    .where("hash", "=", value.hash)
    .where("uses_left", ">", 0)
    .where("revoked_at", "is", null)
    .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", value.now)])),
);

/**
 * Takes one use of a code, inside the transaction of the account that it lets in. False: it is unknown, used up, expired
 * or revoked. One conditional UPDATE, so that parallel sign-ups never share the last use.
 */
export async function useAccessCode(transaction: Queries, hash: string, now: number): Promise<boolean> {
  return (await transaction.run(consumeUse(transaction, { hash, now }))) === 1;
}

const findUsable = prepared((build, value: { hash: string; now: number }) =>
  build
    .selectFrom("access_codes")
    .select("id")
    .where("hash", "=", value.hash)
    .where("uses_left", ">", 0)
    .where("revoked_at", "is", null)
    .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", value.now)])),
);

/** Whether {@link useAccessCode} would take it now. Takes nothing. */
export async function isUsableAccessCode(queries: Queries, hash: string, now: number): Promise<boolean> {
  return (await queries.first(findUsable(queries, { hash, now }))) !== null;
}

export const listAccessCodes = prepared((build, _none: Record<never, never>) =>
  build
    .selectFrom("access_codes")
    .select(["id", "note", "uses_left", "expires_at", "revoked_at", "created_at"])
    .orderBy("created_at", "desc")
    .orderBy("id", "desc"),
);

export const findAccessCode = prepared((build, value: { id: string }) =>
  build.selectFrom("access_codes").select("id").where("id", "=", value.id),
);

/** Changes nothing for a code that is revoked already: the first time counts. */
export const revokeAccessCode = prepared((build, value: { id: string; now: number }) =>
  build
    .updateTable("access_codes")
    .set({ revoked_at: value.now })
    .where("id", "=", value.id)
    .where("revoked_at", "is", null),
);

type Codes = Pick<Deps, "settings" | "clock">;

/**
 * Whether a person with the code may sign up: with every code, and without one, if the operator switched codes off.
 * `hash` null: there is none. Takes nothing.
 */
export async function maySignUp({ settings, clock }: Codes, queries: Queries, hash: string | null): Promise<boolean> {
  if (!settings.accessCodesRequired) return true;
  return hash !== null && (await isUsableAccessCode(queries, hash, clock.now()));
}

/**
 * The same, and takes one use of the code, inside the transaction of the account that it lets in. Throws `access_code_invalid`.
 */
export async function admitNewUser(
  { settings, clock }: Codes,
  transaction: Queries,
  hash: string | null,
): Promise<void> {
  if (!settings.accessCodesRequired) return;
  if (hash !== null && (await useAccessCode(transaction, hash, clock.now()))) return;
  throw accessCodeRefused(hash);
}

/** What becomes of a sign-up whose code is missing (null) or does not count. */
export function accessCodeRefused(hash: string | null): ServiceError {
  return new ServiceError(
    "access_code_invalid",
    hash === null
      ? "The access code is missing"
      : "The access code is not valid: mistyped, used up, expired or revoked",
  );
}
