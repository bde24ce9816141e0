import type { Deps } from "../../deps.ts";
import type { AccessCodeRow } from "../../ports/tables.ts";
import { hashAccessCode, mintAccessCode } from "./codes.ts";
import { type ListedAccessCode, toListed } from "./rules.ts";
import { insertAccessCode } from "./store.ts";

const DAY = 86_400_000;

export interface WantedAccessCode {
  readonly uses: number;
  /** null: it never expires. */
  readonly expiresInDays: number | null;
  readonly note: string | null;
}

/** A new code. `code` is shown once: the row holds its hash alone. */
export async function addAccessCode(
  { database, clock, random }: Pick<Deps, "database" | "clock" | "random">,
  { uses, expiresInDays, note }: WantedAccessCode,
): Promise<ListedAccessCode & { readonly code: string }> {
  const code = mintAccessCode(random);
  const now = clock.now();
  const row: AccessCodeRow = {
    id: random.uuid(),
    hash: hashAccessCode(code),
    note,
    uses_left: uses,
    expires_at: expiresInDays === null ? null : now + expiresInDays * DAY,
    revoked_at: null,
    created_at: now,
  };
  await insertAccessCode(database, row);
  return { code, ...toListed(row, now) };
}
