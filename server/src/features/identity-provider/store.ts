import { prepared, type Queries } from "../../ports/database.ts";
import type { SignInRow } from "../../ports/tables.ts";

export async function insertSignIn(queries: Queries, row: SignInRow): Promise<void> {
  await queries.run(queries.build.insertInto("sign_ins").values(row));
}

/** For what may be there already: an identity token that the provider hands out twice is kept once. */
export async function saveSignIn(queries: Queries, row: SignInRow): Promise<void> {
  const insert = queries.build.insertInto("sign_ins").values(row);
  await queries.run(insert.onConflict((conflict) => conflict.column("state_hash").doNothing()));
}

/**
 * Uses a started sign-in up. The first caller gets its row, in the flow that it was begun for (specification §5.5; RFC
 * 6749 §10.12). One conditional DELETE: no two callers ever get it. An expired one goes as well, so that setting the
 * clock back does not bring it to life.
 */
export const consumeSignIn = prepared((build, value: { stateHash: string; flow: string }) =>
  build.deleteFrom("sign_ins").where("state_hash", "=", value.stateHash).where("flow", "=", value.flow).returningAll(),
);

/** Whether there is one, over or not. Takes nothing. */
export const findSignIn = prepared((build, value: { stateHash: string; flow: string }) =>
  build.selectFrom("sign_ins").select("flow").where("state_hash", "=", value.stateHash).where("flow", "=", value.flow),
);

export const findAccountByIdentity = prepared((build, value: { issuer: string; subject: string }) =>
  build.selectFrom("accounts").selectAll().where("idp_id", "=", value.subject).where("idp_issuer", "=", value.issuer),
);

/** Some accounts with a salt, each with the key that encrypts it. */
export const someSalts = prepared((build, value: { limit: number }) =>
  build.selectFrom("accounts").select(["id", "zklogin_salt"]).where("zklogin_salt", "is not", null).limit(value.limit),
);
