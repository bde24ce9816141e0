import { prepared } from "../../ports/database.ts";

/** What signing in compares. The e-mail is in lower case, as it was parsed. */
export const findPassword = prepared((build, value: { email: string }) =>
  build.selectFrom("accounts").select(["id", "password_hash"]).where("email", "=", value.email),
);

/** Sets a password in the place of the one that was compared: of two changes at the same time one wins. */
export const replacePassword = prepared((build, value: { id: string; from: string; to: string; now: number }) =>
  build
    .updateTable("accounts")
    .set({ password_hash: value.to, updated_at: value.now })
    .where("id", "=", value.id)
    .where("password_hash", "=", value.from),
);
