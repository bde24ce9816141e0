import { expect, it } from "vitest";
import { between } from "../../between.test-kit.ts";
import { hashAccessCode } from "../access-codes/codes.ts";
import { addAccessCode } from "../auth/accounts.test-kit.ts";
import { openTestService } from "../service.test-kit.ts";
import { withUser } from "./users.ts";

it.each([true, false])(
  "callbacks of one person side by side get one account, with one use of an access code (e-mail verified: %s)",
  async (emailVerified) => {
    await using service = await openTestService({ environment: { SERVICE_ACCESS_CODES: "required" } });
    const of = { issuer: "https://provider.example", audience: "coffer", subject: "ada", nonce: null };
    const identity = { ...of, email: "ada@example.test", emailVerified, name: null, idToken: "" };
    const accessCodeHash = hashAccessCode(await addAccessCode({ deps: service }));
    const visitor = { identity, accessCodeHash, origin: { requestId: "", address: "", userAgent: null } };
    const signIn = (deps: Parameters<typeof withUser>[0]) => withUser(deps, visitor, async (act) => act.account.id);
    const made: string[] = [];
    const database = between(service.database, async () => {
      if (made.length === 0) made.push("", await signIn(service));
    });
    expect(await signIn({ ...service, database })).toBe(made[1]);
  },
);
