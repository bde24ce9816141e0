import { SIGN_IN_MINUTES, type api, type ZkloginProof } from "@coffer/contract";
import { digestOf, toHex } from "../../digest.ts";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { openAccount, readAccount } from "./accounts.ts";
import { record } from "./audit.ts";
import { requireAccessCode, useAccessCode } from "./auth.ts";
import { base64url, openSession, randomToken, type ProviderUser, type SignIn } from "./identity-state.ts";
import { refuseLinkedElsewhere } from "./proofs.ts";
import type { State, Visitor } from "./state.ts";

/** Where the fake's identity provider would be; nothing answers there. */
const PROVIDER = "https://idp.fake.test/authorize";

/**
 * Sign-in with an identity provider. The fake checks neither whether a zkLogin nonce was made of the ephemeral key nor
 * what a proof proves. That takes the chain's own arithmetic, which only the service has.
 */
export function identityProviderHandlers(state: State): GroupHandlers<typeof api.identityProvider, Visitor> {
  return {
    authorize: ({ query }) => begin(state, "plain", null, query.accessCode),
    authorizeZklogin: ({ query }) => begin(state, "zklogin", query.nonce ?? null, query.accessCode),
    callback: ({ body }, visitor) => {
      const { user, signIn } = exchange(state, body, "plain");
      return tokensOf(state, visitor, findOrCreate(state, visitor, user, signIn), "idp");
    },
    zkloginToken: async ({ body }, visitor) => {
      const { user, signIn } = exchange(state, body, "zklogin");
      if (signIn.nonce === null) throw new Failure("state_invalid");
      const identity = await linkZklogin(state, visitor, findOrCreate(state, visitor, user, signIn), user);
      const idToken = renderIdToken(user, signIn);
      state.idTokens.set(idToken, { user, signIn, used: false });
      return { idToken, ...identity };
    },
    zkloginAuth: async ({ body }, visitor) => {
      const { user, signIn } = "code" in body ? exchange(state, body, "zklogin") : takeIdToken(state, body.idToken);
      const accountId = findOrCreate(state, visitor, user, signIn);
      const identity = await linkZklogin(state, visitor, accountId, user);
      const given = "proof" in body ? body.proof : undefined;
      return { ...tokensOf(state, visitor, accountId, "zklogin"), ...identity, proof: given ?? proofFor(identity) };
    },
  };
}

function begin(state: State, flow: SignIn["flow"], nonce: string | null, accessCode: string | undefined) {
  const name = randomToken();
  const expiresAt = state.now() + SIGN_IN_MINUTES * 60_000;
  state.signIns.set(name, { flow, nonce, accessCode: accessCode ?? null, expiresAt });
  const query = new URLSearchParams({ state: name, code_challenge_method: "S256" });
  // A zkLogin client that named none adds its own to the address.
  if (nonce !== null || flow === "plain") query.set("nonce", nonce ?? randomToken());
  return { url: `${PROVIDER}?${query.toString()}`, state: name };
}

function exchange(
  state: State,
  { code, state: name }: { readonly code: string; readonly state: string },
  flow: SignIn["flow"],
): { readonly user: ProviderUser; readonly signIn: SignIn } {
  const signIn = state.signIns.get(name);
  if (signIn?.flow !== flow || signIn.expiresAt <= state.now()) throw new Failure("state_invalid");
  state.signIns.delete(name);
  const given = state.providerCodes.get(code);
  state.providerCodes.delete(code);
  if (given?.state !== name) throw new Failure("provider_refused");
  return { user: given.user, signIn };
}

function takeIdToken(state: State, text: string): { readonly user: ProviderUser; readonly signIn: SignIn } {
  const token = state.idTokens.get(text);
  if (token === undefined || token.used || token.signIn.expiresAt <= state.now()) throw new Failure("provider_refused");
  token.used = true;
  return token;
}

function findOrCreate(state: State, visitor: Visitor, user: ProviderUser, { accessCode }: SignIn): string {
  const known = state.identities.get(user.subject);
  if (known !== undefined) return known;
  requireAccessCode(state, accessCode);
  const { email, emailVerified = true } = user;
  const { id } = openAccount(state, visitor, { email, emailVerified, name: null, plan: "free" });
  useAccessCode(state, accessCode);
  state.identities.set(user.subject, id);
  return id;
}

function tokensOf(state: State, visitor: Visitor, accountId: string, method: "idp" | "zklogin") {
  const { sessionId, ...tokens } = openSession(state, accountId, method, visitor.userAgent);
  record(state, visitor, accountId, "session.created", { type: "session", id: sessionId });
  return tokens;
}

/** The user's salt, and the address that subject and salt give: always the same for one user. */
async function linkZklogin(state: State, visitor: Visitor, accountId: string, { subject }: ProviderUser) {
  const salt = state.salts.get(subject) ?? String(crypto.getRandomValues(new BigUint64Array(1))[0]);
  state.salts.set(subject, salt);
  const chainAddress = `0x${toHex(await digestOf(new TextEncoder().encode(`zklogin ${subject} ${salt}`)))}`;
  const account = readAccount(state, accountId);
  if (account.chainAddress === null) {
    refuseLinkedElsewhere(state, accountId, chainAddress);
    state.accounts.set(accountId, { ...account, chainAddress, chainAddressSource: "zklogin" });
    record(state, visitor, accountId, "account.chain_linked", { type: "account", id: accountId });
  }
  return { chainAddress, salt };
}

function proofFor({ salt }: { readonly salt: string }): ZkloginProof {
  return {
    proofPoints: { a: ["1", "2", "1"], b: [["1", "2"], ["3", "4"], ["1", "0"]], c: ["5", "6", "1"] }, // prettier-ignore
    issBase64Details: { value: "", indexMod4: 0 },
    headerBase64: "",
    addressSeed: salt,
  };
}

function renderIdToken({ subject, email }: ProviderUser, { nonce }: SignIn): string {
  const claims = { iss: "https://idp.fake.test", sub: subject, email, nonce, jti: crypto.randomUUID() };
  return [base64url(JSON.stringify({ alg: "RS256" })), base64url(JSON.stringify(claims)), randomToken()].join(".");
}
