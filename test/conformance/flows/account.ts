import { api, HEADERS } from "@coffer/contract";
import type { Flow, Subject } from "../subject.ts";

export const accountFlow: Flow = async (subject) => {
  const { owner } = subject;
  owner.step("the account of an owner's key");
  const before = (await owner.call(api.account.get, {})).value();
  owner.check(api.account.get, before.account.accessLevel === "owner", "accessLevel is not owner");
  owner.check(api.account.get, before.credential.kind === "api-key", "the credential's kind is not api-key");

  if (subject.covers(api.account.update)) await renaming(subject, before.account.name);

  owner.step("request id and version are echoed");
  const requestId = "0b0e9a52-6d3c-4b57-9f0e-3a3f2b1c4d5e";
  const echoed = await owner.call(
    api.account.get,
    {},
    { headers: { "x-request-id": requestId, "api-version": "2026-11-20" } },
  );
  owner.check(api.account.get, echoed.headers.get(HEADERS.requestId) === requestId, "X-Request-Id is not echoed");
  owner.check(api.account.get, echoed.headers.get(HEADERS.apiVersion) === "2026-11-20", "API-Version is not echoed");
};

async function renaming({ owner }: Subject, name: string | null): Promise<void> {
  owner.step("the name is changed, kept and taken away");
  const named = (await owner.call(api.account.update, { body: { name: "Conformance run" } })).value();
  owner.check(api.account.update, named.account.name === "Conformance run", "the new name is not answered");
  const same = (await owner.call(api.account.update, { body: {} })).value();
  owner.check(api.account.update, same.account.name === "Conformance run", "an empty change changed the name");
  const cleared = (await owner.call(api.account.update, { body: { name: null } })).value();
  owner.check(api.account.update, cleared.account.name === null, "null did not take the name away");
  await owner.call(api.account.update, { body: { name } });
}
