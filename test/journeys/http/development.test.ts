import { expect, it } from "vitest";
import { freshEmail } from "../kit/account.ts";
import { expectError, fieldsAt, textIn, UUID } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const signUp = (body: object) => service().ask("POST", "/api/auth/dev-signup", { key: "", body });

it("dev-signup answers 200 with id, email, the key and a warning, without a credential [S2.3-id S2.3-email S2.3-api-key S2.3-warning S4.2-dev-signup S5.5-dev-signup D1-dev-signup-200 D1-open-dev-signup D2-dev-plan]", async () => {
  const email = freshEmail();
  const fields = fieldsAt(await signUp({ email, name: "Ada" }), 200);
  expect(fields).toEqual({
    id: expect.stringMatching(UUID),
    email,
    apiKey: expect.stringMatching(/^cof_[0-9A-Za-z]{49}$/),
    warning: expect.stringMatching(/./),
  });
  expect(await service().account(textIn(fields, "apiKey"))).toMatchObject({
    id: fields["id"],
    email,
    name: "Ada",
    plan: "pro",
    emailVerified: false,
  });
});

it("dev-signup refuses what is no e-mail address with 400, and a known one with 409 [S4.2-dev-signup-email S4.2-dev-signup-409 S7-409-dev-signup]", async () => {
  for (const body of [{}, { email: "nobody" }, { email: 7 }])
    expect(expectError(await signUp(body), 400, "validation_failed")).toContain("email");
  expectError(await signUp({ email: service().owner.email }), 409, "email_exists");
});
