import { api } from "@coffer/contract";
import { refusedWith } from "../conversation.ts";
import type { Flow } from "../subject.ts";

/** 27 characters of base64url, as a zkLogin client makes it. */
const NONCE = "AAAAAAAAAAAAAAAAAAAAAAAAAAA";
const STATE = { code: "made-up", state: "made-up" };
const EPHEMERAL = { ephemeralPublicKey: "AAAA", maxEpoch: 10, randomness: "1" };

/** Sign-in elsewhere: a server without a provider says so, one with it refuses what nobody began. */
export const identityProviderFlow: Flow = async ({ owner }) => {
  const { authorize, authorizeZklogin, callback, zkloginToken, zkloginAuth } = api.identityProvider;
  const open = owner.as(null);
  owner.step("a sign-in is begun, where there is a provider");
  const begun = await open.call(authorize, {}, { expect: "any" });
  if (refusedWith(begun) === "rate_limited") return;
  const configured = refusedWith(begun) !== "not_configured";
  if (begun.status === 200) {
    const { url, state } = begun.value();
    const query = new URL(url).searchParams;
    owner.check(authorize, query.get("state") === state, "the URL carries another state");
    owner.check(authorize, query.get("code_challenge_method") === "S256", "no PKCE S256");
    const zk = new URL((await open.call(authorizeZklogin, { query: { nonce: NONCE } })).value().url);
    owner.check(authorizeZklogin, zk.searchParams.get("nonce") === NONCE, "the URL carries another nonce");
  } else {
    owner.check(
      authorize,
      ["not_configured", "provider_unavailable"].includes(refusedWith(begun) ?? ""),
      `it is answered ${String(begun.status)}`,
    );
    const expect = configured ? "provider_unavailable" : "not_configured";
    await open.call(authorizeZklogin, { query: { nonce: NONCE } }, { expect });
  }
  owner.step("a state of nobody");
  const expect = configured ? "state_invalid" : "not_configured";
  await open.call(callback, { body: STATE }, { expect });
  await open.call(zkloginToken, { body: STATE }, { expect });
  await open.call(zkloginAuth, { body: { ...STATE, ...EPHEMERAL } }, { expect });
  owner.step("the two steps at their bare paths");
  for (const [e, body] of [
    [zkloginToken, STATE],
    [zkloginAuth, { ...STATE, ...EPHEMERAL }],
  ] as const) {
    const headers = { "content-type": "application/json" };
    const url = new URL(e.aliases[0], owner.baseUrl);
    await owner.send(e, new Request(url, { method: "POST", headers, body: JSON.stringify(body) }), expect);
  }
};
