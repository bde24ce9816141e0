import { api, isInviteCode, END_STEP, type CreatedInvite } from "@coffer/contract";
import type { ChainKey } from "../../journeys/kit/chain.ts";
import { refusedWith, type Conversation } from "../conversation.ts";
import type { Flow, Subject } from "../subject.ts";

const MINUTE = 60_000;

/** Invites, what redeems them, and what is bound to a chain address. */
/** An agent has nothing to do with webhooks (decisions §0). */
const OF_WEBHOOKS = [api.webhooks.list, api.webhookEvents.list];

export const invitesFlow: Flow = async (subject) => {
  await making(subject);
  await redeeming(subject);
  await linking(subject);
};

async function making({ owner, name, vaultId }: Subject): Promise<void> {
  const { create, list, revoke } = api.invites;
  owner.step("an invite is made, and listed without its code");
  const scopes = ["files:read" as const];
  const made = (await owner.call(create, { body: { name: name("invite"), scopes, vaultIds: [vaultId] } })).value();
  owner.check(create, isInviteCode(made.code), "the code does not have the published form");
  const hours = (Date.parse(made.expiresAt) - Date.parse(made.createdAt)) / (60 * MINUTE);
  owner.check(create, Math.abs(hours - 1) < 0.001, "the default lifetime is not one hour");
  const listed = await owner.call(list, { query: { limit: 10 } });
  const row = listed.value().invites.find(({ id }) => id === made.id);
  owner.check(list, row?.status === "created", "it is not listed as created");
  owner.check(list, !new TextDecoder().decode(listed.body).includes(made.code), "the list holds the code");

  owner.step("an invite of more than 72 hours, or with an owner's scope");
  const long = { name: name("long"), expiresInHours: 73 } as const;
  await owner.send(create, jsonRequest(owner, create.path, long), "validation_failed");
  const owners = { name: name("owner's"), scopes: ["invites:write" as const] };
  await owner.call(create, { body: owners }, { expect: "scope_owner_only" });

  owner.step("one with an end of access that is no quarter of an hour, over, or before the invite's own");
  const invite = { name: name("until"), expiresInHours: 2 };
  for (const accessUntil of [textOf(endAt(12) + 1), textOf(endAt(-1)), textOf(endAt(2))])
    await owner.send(create, jsonRequest(owner, create.path, { ...invite, accessUntil }), "validation_failed");

  owner.step("it is revoked, twice");
  for (let times = 0; times < 2; times += 1) await owner.call(revoke, { params: { inviteId: made.id } });
  const after = (await owner.call(list, { query: { limit: 10 } })).value().invites;
  owner.check(list, after.find(({ id }) => id === made.id)?.status === "revoked", "it is not listed as revoked");
}

/** The quarter of an hour so many after this one, in milliseconds since 1970. */
const endAt = (quarters: number): number => (Math.floor(Date.now() / END_STEP) + quarters) * END_STEP;
const textOf = (time: number): string => new Date(time).toISOString();

/** Nobody waits for the end here: a key that has ended is the permission matrix's. */
async function redeemingUntil({ owner, name, ...subject }: Subject): Promise<void> {
  const { create, list, redeem } = api.invites;
  owner.step("an invite with an end of access makes a key that ends then");
  const accessUntil = textOf(endAt(8));
  const made = (await owner.call(create, { body: { name: name("until"), accessUntil } })).value();
  owner.check(create, made.accessUntil === accessUntil, "it shows another accessUntil");
  const body = await subject.newChainKey().redeeming(made.code);
  const redeemed = (await owner.as(null).call(redeem, { body })).value();
  owner.check(redeem, redeemed.expiresAt === accessUntil, "its key does not end with the access");
  const { credential } = (await owner.as(redeemed.key).call(api.account.get, {})).value();
  owner.check(api.account.get, credential.expiresAt === accessUntil, "its credential shows another end");
  const row = (await owner.call(list, { query: { limit: 10 } })).value().invites.find(({ id }) => id === made.id);
  owner.check(list, row?.accessUntil === accessUntil, "the list shows another accessUntil");
  await owner.call(api.apiKeys.revoke, { params: { keyId: redeemed.keyId } });
}

/** What the contract refuses, and so no call of it sends. */
export function jsonRequest(owner: Conversation, path: string, body: object): Request {
  const headers = { "content-type": "application/json", authorization: `Bearer ${owner.key ?? ""}` };
  return new Request(new URL(path, owner.baseUrl), { method: "POST", headers, body: JSON.stringify(body) });
}

async function redeeming(subject: Subject): Promise<void> {
  const { owner, name } = subject;
  const { redeem } = api.invites;
  const open = owner.as(null);
  const chain = subject.newChainKey();
  owner.step("a code of nobody");
  const unknown = await open.call(redeem, { body: await chain.redeeming("cofi_nobody") }, { expect: "any" });
  if (refusedWith(unknown) === "not_configured") {
    owner.note("redeeming and linking were not tried: the server does not know its own origin (SERVICE_PUBLIC_URL)");
    return;
  }
  if (refusedWith(unknown) === "rate_limited") return;
  owner.check(redeem, refusedWith(unknown) === "not_found", `it is answered ${String(unknown.status)}`);
  const invite = (await owner.call(api.invites.create, { body: { name: name("agent") } })).value();
  await wrongProofs(subject, invite, chain);
  await redeemingUntil(subject);

  owner.step("it is redeemed, once");
  const body = await chain.redeeming(invite.code);
  const redeemed = (await open.call(redeem, { body })).value();
  owner.check(redeem, redeemed.chainAddress === chain.address && redeemed.accessLevel === "agent", "another's key");
  await open.call(redeem, { body }, { expect: "invite_ended" });
  const agent = owner.as(redeemed.key);
  const { account, credential } = (await agent.call(api.account.get, {})).value();
  owner.check(api.account.get, account.accessLevel === "agent", "its accessLevel is not agent");
  owner.check(api.account.get, credential.chainAddress === chain.address, "its credential names another address");
  for (const e of [
    api.invites.list,
    api.apiKeys.list,
    api.sessions.list,
    api.audit.list,
    api.billing.get,
    ...OF_WEBHOOKS,
  ])
    await agent.call(e, {}, { expect: "owner_only" });
  owner.step("its address cannot become the owner's; its key is revoked");
  const challenge = (await owner.call(api.account.linkChainChallenge, {})).value();
  const link = await chain.linking(redeemed.accountId, challenge.nonce);
  await owner.call(api.account.linkChain, { body: link }, { expect: "address_conflict" });
  await owner.call(api.apiKeys.revoke, { params: { keyId: redeemed.keyId } });
  await agent.call(api.account.get, {}, { expect: "invalid_credential" });
}

async function wrongProofs({ owner, ...subject }: Subject, { code }: CreatedInvite, chain: ChainKey): Promise<void> {
  const { redeem } = api.invites;
  const open = owner.as(null);
  owner.step("signatures that prove nothing leave the invite open");
  const good = await chain.redeeming(code);
  const other = subject.newChainKey();
  const stolen = { ...good, chainAddress: other.address };
  await open.call(redeem, { body: stolen }, { expect: "signature_invalid" });
  const elsewhere = await chain.redeeming(code, { origin: "https://elsewhere.example" });
  await open.call(redeem, { body: elsewhere }, { expect: "signature_invalid" });
  const late = await chain.redeeming(code, { at: Date.now() - 6 * MINUTE });
  await open.call(redeem, { body: late }, { expect: "clock_skew" });
  owner.step("a key for an address that did not agree");
  const bound = { name: "bound", chainAddress: other.address };
  await owner.call(api.apiKeys.create, { body: bound }, { expect: "signature_invalid" });
}

/** An address that is linked stays: only an account that this run made is linked. */
async function linking({ owner, stranger, newChainKey: newKey }: Subject): Promise<void> {
  const { linkChain, linkChainChallenge } = api.account;
  const chain = newKey();
  owner.step("a challenge of nobody");
  const { account } = (await owner.call(api.account.get, {})).value();
  const answered = await owner.call(linkChain, { body: await chain.linking(account.id, "nobody") }, { expect: "any" });
  if (refusedWith(answered) === "not_configured") return;
  owner.check(linkChain, refusedWith(answered) === "token_invalid", `it is answered ${String(answered.status)}`);
  if (stranger === null) return;
  owner.step("an address is linked with its signature");
  const mine = (await stranger.call(api.account.get, {})).value().account;
  const { nonce } = (await stranger.call(linkChainChallenge, {})).value();
  const body = await chain.linking(mine.id, nonce);
  const linked = (await stranger.call(linkChain, { body })).value().account;
  stranger.check(linkChain, linked.chainAddress === chain.address, "another address is linked");
  stranger.check(linkChain, linked.chainAddressSource === "external", "chainAddressSource is not external");
  await stranger.call(linkChain, { body }, { expect: "token_invalid" });
}
