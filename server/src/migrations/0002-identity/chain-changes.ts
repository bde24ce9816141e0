import type { Session } from "../../ports/database.ts";

/** Chains what was recorded before there was a chain. */
export async function chainExistingChanges(_session: Session): Promise<void> {}
