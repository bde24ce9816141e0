/** Is the master key the one under which the secrets of this database were encrypted? Asked before the server listens. */
import { ConfigError } from "./config.ts";
import type { Deps } from "./deps.ts";
import { someSalts } from "./features/identity-provider/store.ts";
import { saltKeptFor } from "./features/identity-provider/zklogin-identities.ts";
import { liveSecrets } from "./features/webhooks/secrets.ts";
import { someWebhooks } from "./features/webhooks/store.ts";

const LOOKED_AT = 8;

/**
 * With another key webhooks go unsigned and zkLogin users are refused, each when it is next tried, and new secrets
 * would be under both keys. One row that does not open is a damaged row, and stops nothing.
 * @throws ConfigError
 */
export async function requireMasterKey({ database, atRest }: Pick<Deps, "database" | "atRest">): Promise<void> {
  const some = { limit: LOOKED_AT };
  const webhooks = await database.all(someWebhooks(database, some));
  const accounts = await database.all(someSalts(database, some));
  const secrets = [
    ...webhooks.map((row) => () => void liveSecrets(atRest, row, Infinity)),
    ...accounts.map((account) => () => void saltKeptFor(atRest, account)),
  ];
  if (secrets.length === 0 || secrets.some(opens)) return;
  throw new ConfigError([
    "SERVICE_MASTER_KEY: not the one under which this database's secrets were encrypted; start with that one, or with the database that belongs to this one",
  ]);
}

function opens(reveal: () => void): boolean {
  try {
    reveal();
    return true;
  } catch {
    return false;
  }
}
