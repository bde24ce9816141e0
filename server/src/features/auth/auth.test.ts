import { expect, it } from "vitest";
import { openTestApp } from "../../test-app.ts";
import { logInAgain, outcomeOf, refresh, signUpWithPassword, tryAccess } from "./test-accounts.ts";

it("smoke", async () => {
  await using service = await openTestApp();
  const account = await signUpWithPassword(service);
  expect(await tryAccess(service, account.accessToken)).toBe(200);
  expect(await tryAccess(service, account.accessToken)).toBe(200);
  const again = await logInAgain(service, account.email);
  const next = await refresh(service, again.refreshToken);
  expect(outcomeOf(next)).toBe("200");
  expect(outcomeOf(await refresh(service, again.refreshToken))).toBe("401 session_ended");
  expect(await tryAccess(service, again.accessToken)).toBe(401);
  const list = await service.ask("GET", "/api/auth/sessions", { key: account.accessToken });
  expect(list.body).toMatchObject({ sessions: [{ current: true }] });
  expect((await service.ask("POST", "/api/auth/logout", { json: { refreshToken: account.refreshToken } })).status).toBe(
    204,
  );
  expect(await tryAccess(service, account.accessToken)).toBe(401);
});
