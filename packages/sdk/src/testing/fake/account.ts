import { renderLinkText, type api } from "@coffer/contract";
import { placeOf } from "../../chain/signer.ts";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { openAccount, readAccount } from "./accounts.ts";
import { record } from "./audit.ts";
import { budgetUseOf } from "./budgets.ts";
import { randomToken } from "./identity-state.ts";
import { mintKey } from "./keys.ts";
import { checkSignature, refuseLinkedElsewhere, requireHeld } from "./proofs.ts";
import { isLive, type Caller, type State, type Visitor } from "./state.ts";

const CHALLENGE_MS = 10 * 60_000;

export function accountHandlers(state: State): GroupHandlers<typeof api.account, Caller> {
  return {
    get: (_input, { kind, accountId, key }) => {
      const { id, name, scopes, vaultIds, expiresAt, accessLevel, budgets } = key.value;
      const account = readAccount(state, accountId);
      const isKey = kind === "api-key";
      const chainAddress = isKey ? key.value.chainAddress : account.chainAddress;
      const shown = { id: kind === "development" ? null : id, name: isKey ? name : null };
      const budgetUse = budgetUseOf(state, key.budgets);
      const credential = { kind, ...shown, scopes, vaultIds, chainAddress, expiresAt, budgets, budgetUse };
      return { account: { ...account, accessLevel }, credential };
    },
    update: ({ body }, caller) => {
      const { accountId } = caller;
      const account = readAccount(state, accountId);
      if (body.name === undefined || body.name === account.name) return { account };
      const next = { ...account, name: body.name };
      state.accounts.set(accountId, next);
      record(state, caller, accountId, "account.updated", { type: "account", id: accountId });
      return { account: next };
    },
    linkChainChallenge: (_input, { accountId, key }) => {
      const nonce = randomToken();
      const expiresAt = state.now() + CHALLENGE_MS;
      state.challenges.set(nonce, { accountId, credential: key.value.id, expiresAt });
      return { nonce, expiresAt: new Date(expiresAt).toISOString() };
    },
    linkChain: async ({ body }, caller) => {
      const { accountId } = caller;
      const { nonce, chainAddress, signature } = body;
      const challenge = state.challenges.get(nonce);
      const mine = challenge?.accountId === accountId && challenge.credential === caller.key.value.id;
      if (challenge === undefined || !mine || challenge.expiresAt <= state.now()) throw new Failure("token_invalid");
      const claim = { ...placeOf(caller.origin), chainAddress, accountId, nonce };
      const proof = await checkSignature(state, chainAddress, renderLinkText(claim), signature);
      // A proof that cannot be checked uses up no challenge. If two callers send it together, one is second (decision
      // 0018).
      if (proof !== "unknown" && !state.challenges.delete(nonce)) throw new Failure("token_invalid");
      requireHeld(proof);
      return { account: link(state, caller, chainAddress, "external") };
    },
  };
}

/** Links an address to an account. Throws `address_conflict` when another account, or a valid key, has it. */
export function link(state: State, caller: Caller, chainAddress: string, source: "external") {
  const { accountId } = caller;
  const account = readAccount(state, accountId);
  refuseLinkedElsewhere(state, accountId, chainAddress);
  for (const row of state.keys.values())
    if (account.chainAddress !== chainAddress && row.value.chainAddress === chainAddress && isLive(state, row))
      throw new Failure("address_conflict");
  const next = { ...account, chainAddress, chainAddressSource: source };
  state.accounts.set(accountId, next);
  for (const row of state.keys.values())
    if (row.accountId === accountId && row.value.chainAddress !== null)
      row.value = { ...row.value, accessLevel: row.value.chainAddress === chainAddress ? "owner" : "agent" };
  record(state, caller, accountId, "account.chain_linked", { type: "account", id: accountId });
  return next;
}

export function developmentHandlers(state: State): GroupHandlers<typeof api.development, Visitor> {
  return {
    signup: ({ body }, visitor) => {
      const wanted = { email: body.email, emailVerified: false, name: body.name ?? null, plan: "pro" } as const;
      const { id, email } = openAccount(state, visitor, wanted);
      const rights = {
        name: "development",
        scopes: null,
        vaultIds: null,
        expiresAt: null,
        chainAddress: null,
        budgets: [],
      };
      const key = mintKey(state, id, rights);
      record(state, visitor, id, "api_key.created", { type: "api_key", id: key.value.id });
      return { id, email, apiKey: key.text, warning: "This key is shown once." };
    },
  };
}
