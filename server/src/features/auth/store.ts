import { prepared } from "../../ports/database.ts";

/** What signing in compares. The e-mail is in lower case, as it was parsed. */
export const findPassword = prepared((build, value: { email: string }) =>
  build.selectFrom("accounts").select(["id", "password_hash"]).where("email", "=", value.email),
);
