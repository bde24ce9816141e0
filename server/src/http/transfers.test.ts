import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { signUpWithPassword } from "../features/auth/accounts.test-kit.ts";
import { ServiceError } from "../service-error.ts";
import { openTestApp } from "../app.test-kit.ts";
import { Transfers } from "./transfers.ts";

/** Resolves when the transfer is cut. */
function follow(transfers: Transfers, credentialId: string | null, recheck: () => Promise<void>) {
  return new Promise<ServiceError>((resolve) => {
    transfers.add({ credentialId, recheck, abort: resolve });
  });
}

it("cuts the transfers of a credential that has ended, and asks once for all of them [D4-in-flight-cut]", async () => {
  using transfers = new Transfers(5);
  let asked = 0;
  const ended = () => {
    asked += 1;
    return Promise.reject(new ServiceError("invalid_credential"));
  };
  const cut = await Promise.all([follow(transfers, "session", ended), follow(transfers, "session", ended)]);
  expect(cut.map(({ code }) => code)).toEqual(["invalid_credential", "invalid_credential"]);
  expect(asked).toBe(1);
});

it("lets the others go on: live ones, those that cannot be checked now, and those of nobody", async () => {
  using transfers = new Transfers(2);
  const cut: string[] = [];
  const add = (name: string, credentialId: string | null, recheck: () => Promise<void>) =>
    void follow(transfers, credentialId, recheck).then(() => cut.push(name));
  add("live", "key", () => Promise.resolve());
  add("unchecked", "other", () => Promise.reject(new Error("the database does not answer")));
  add("nobody", null, () => Promise.reject(new ServiceError("invalid_credential")));
  const last = follow(transfers, "ended", () => Promise.reject(new ServiceError("invalid_credential")));
  expect((await last).code).toBe("invalid_credential");
  await pause(10);
  expect(cut).toEqual([]);
});

it("cuts one transfer for a reason of its own, and not the others of its credential", async () => {
  using transfers = new Transfers(2);
  const cut: string[] = [];
  const recheck = () => Promise.resolve();
  transfers.add({ credentialId: "key", recheck, abort: () => void cut.push("other") });
  const recheckWatches = () => Promise.reject(new ServiceError("not_a_member"));
  const ended = new Promise<ServiceError>((resolve) => {
    transfers.add({ credentialId: "key", recheck, recheckWatches, abort: resolve });
  });
  expect((await ended).code).toBe("not_a_member");
  expect(cut).toEqual([]);
});

it("an upload of a session that ends on the way is 401 and makes no file [D4-in-flight-recheck D3-logout]", async () => {
  await using service = await openTestApp();
  const { accessToken, refreshToken } = await signUpWithPassword(service);
  const body = async function* (): AsyncGenerator<string> {
    yield "first half, ";
    expect((await service.ask("POST", "/api/auth/logout", { json: { refreshToken } })).status).toBe(204);
    yield "second half";
  };
  const answer = await service.app.inject({
    method: "POST",
    url: "/api/files?name=cut.bin",
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/octet-stream" },
    payload: Readable.from(body()),
  });
  expect([answer.statusCode, answer.headers["x-error-code"]]).toEqual([401, "invalid_credential"]);
  const { files } = (await service.deps.database.first(
    service.deps.database.build.selectFrom("files").select((row) => row.fn.countAll<number>().as("files")),
  )) ?? { files: -1 };
  expect(files).toBe(0);
});
