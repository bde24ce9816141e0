import { api, checkAuditChain, type AuditEvent } from "@coffer/contract";
import { sha256Hex } from "../samples.ts";
import type { Flow } from "../subject.ts";

/** More of a log that others write as well is not read. */
const NEWEST = 200;

/** The log shows what was done, and each entry carries on from the one before it. */
export const auditFlow: Flow = async ({ owner, name }) => {
  const { list } = api.audit;
  owner.step("an act is in the log");
  const made = (await owner.call(api.apiKeys.create, { body: { name: name("logged") } })).value();
  await owner.call(api.apiKeys.revoke, { params: { keyId: made.id } });
  const { account, credential } = (await owner.call(api.account.get, {})).value();
  const newest = (await owner.call(list, { query: { limit: NEWEST } })).value().events;
  for (const action of ["api_key.created", "api_key.revoked"]) {
    const event = newest.find((one) => one.action === action && one.targets.some(({ id }) => id === made.id));
    owner.check(list, event?.actor.id === credential.id, `${action} is not in the log, or names another key`);
  }

  owner.step("one kind of act alone");
  const keys = (await owner.call(list, { query: { action: "api_key", limit: 10 } })).value().events;
  const others = keys.filter(({ action }) => !action.startsWith("api_key."));
  owner.check(list, keys.length > 0 && others.length === 0, "the list holds other acts, or none");

  owner.step("the entries are a chain");
  const oldestFirst: AuditEvent[] = [...newest].reverse();
  const bytes = (text: string) => new TextEncoder().encode(text);
  const { fault } = await checkAuditChain(account.id, oldestFirst, (text) => sha256Hex(bytes(text)));
  owner.check(list, fault === null, `entry ${String(fault?.sequence)}: ${String(fault?.reason)}`);
};
