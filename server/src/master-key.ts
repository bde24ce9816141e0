/** Is the master key the one under which the secrets of this database were encrypted? Asked before the server listens. */
import { ConfigError } from "./config.ts";
import type { Deps } from "./deps.ts";
import { saltKeptFor } from "./features/identity-provider/zklogin-identities.ts";
import { liveSecrets } from "./features/webhooks/secrets.ts";

const LOOKED_AT = 8;

/**
 * With another key webhooks go unsigned and zkLogin users are refused, each when it is next tried, and new secrets would stand under both keys.
 * One row that does not open is a damaged row, and stops nothing. @throws ConfigError
 */
export async function requireMasterKey({ database, atRest }: Pick<Deps, "database" | "atRest">): Promise<void> {
  const { build } = database;
  const webhooks = await database.all(build.selectFrom("webhooks").selectAll().limit(LOOKED_AT));
  const accounts = await database.all(
    build.selectFrom("accounts").select(["id", "zklogin_salt"]).where("zklogin_salt", "is not", null).limit(LOOKED_AT),
  );
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
