import { jwtToAddress } from "@mysten/sui/zklogin";
import { describe, expect, it } from "vitest";
import { openDevelopmentProver } from "../../drivers/prover/development.ts";
import { openHostedProver } from "../../drivers/prover/hosted.ts";
import { suiZklogin } from "../../drivers/zklogin/sui.ts";
import { type Prover, ProverUnavailableError } from "../../ports/zklogin.ts";
import { countRows, outcomeOf, tryAccess } from "../auth/accounts.test-kit.ts";
import { rememberToken, useToken } from "./sign-ins.ts";
import {
  ADA,
  afterStepOne,
  auth,
  comeBackWithKey,
  makeEphemeral,
  openSignInApp,
  readAccount,
  signIn,
  stepOne,
} from "./sign-ins.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const app = ofEachTest(openSignInApp);

const MINUTE = 60_000;

describe("the two steps", () => {
  it.each(["", "/api/auth"])(
    "under %j do what the combined form does [S4.2-zklogin-two-step S4.2-bare-paths D3-two-step]",
    async (prefix) => {
      const { returned, values } = await comeBackWithKey(app);
      const one = await stepOne(app, returned, `${prefix}/idp/zklogin-token`);
      expect(one.status).toBe(200);
      expect(Object.keys(one.body).sort()).toEqual(["chainAddress", "idToken", "salt"]);
      const { idToken, salt, chainAddress } = one.body as Record<string, string>;
      expect(chainAddress).toBe(jwtToAddress(idToken ?? "", salt ?? "", false));
      expect(await countRows(app.service, "sessions")).toBe(0);
      expect(await readAccount(app)).toMatchObject({ chain_address: null });
      const two = await auth(app, { idToken, ...values }, `${prefix}/idp/zklogin-auth`);
      expect(two.status).toBe(200);
      expect(two.body).toMatchObject({ chainAddress, salt, accessToken: expect.any(String) });
      expect(await readAccount(app)).toMatchObject({ chain_address: chainAddress, chain_address_source: "zklogin" });
      const combined = await signIn(app, { accessCode: null });
      expect(combined.body).toMatchObject({ chainAddress, salt });
    },
  );

  it("hand out a token that is no credential here [D0-foreign-jwt-401]", async () => {
    const { json } = await afterStepOne(app);
    expect(await tryAccess(app.service, json.idToken)).toBe(401);
  });

  it("take a token once, also for 20 at a time", async () => {
    const { json } = await afterStepOne(app);
    const answers = await Promise.all(Array.from({ length: 20 }, () => auth(app, json)));
    expect(answers.map(outcomeOf).sort()).toEqual(["200", ...Array.from({ length: 19 }, () => "400 state_invalid")]);
    app.clock.advance(-5 * MINUTE);
    expect(outcomeOf(await auth(app, json))).toBe("400 state_invalid");
    expect(await countRows(app.service, "sessions")).toBe(1);
  });

  it.each([
    [10 * MINUTE - 1, "200"],
    [10 * MINUTE, "400 state_invalid"],
    [10 * MINUTE + 1, "400 state_invalid"],
  ])("are over %i ms after the first: %s", async (age, outcome) => {
    const { json } = await afterStepOne(app);
    app.clock.advance(age);
    expect(outcomeOf(await auth(app, json))).toBe(outcome);
  });

  it("stay over when the clock is set back", async () => {
    const { json } = await afterStepOne(app);
    app.clock.advance(10 * MINUTE);
    expect(outcomeOf(await auth(app, json))).toBe("400 state_invalid");
    app.clock.advance(-1);
    expect(outcomeOf(await auth(app, json))).toBe("400 state_invalid");
    expect(await countRows(app.service, "sessions")).toBe(0);
  });

  it("take no token that is used up, or that step one did not hand out, and ask the prover for none of them", async () => {
    const real = openDevelopmentProver(suiZklogin);
    let proofs = 0;
    const prove: Prover["prove"] = (request) => {
      proofs += 1;
      return real.prove(request);
    };
    await using app = await openSignInApp(() => ({ prover: { ...real, prove } }));
    const { json } = await afterStepOne(app);
    expect(outcomeOf(await auth(app, json))).toBe("200");
    expect(outcomeOf(await auth(app, json))).toBe("400 state_invalid");
    const { values, nonce } = makeEphemeral();
    const issuedAt = Math.floor(app.clock.now() / 1000);
    for (const user of [ADA, { sub: "nobody", email: "nobody@example.test" }]) {
      const idToken = await app.local.signToken(app.local.claimsFor(user, { nonce, issuedAt }));
      expect(outcomeOf(await auth(app, { idToken, ...values }))).toBe("400 state_invalid");
    }
    expect(proofs).toBe(1);
    expect(await countRows(app.service, "sessions")).toBe(1);
  });

  it("take no token that the provider did not sign, or none at all", async () => {
    const { values, nonce } = makeEphemeral();
    const claims = app.local.claimsFor(ADA, { nonce, issuedAt: Math.floor(app.clock.now() / 1000) });
    for (const idToken of [await app.local.signToken(claims, "another"), "no.token.here"]) {
      expect(outcomeOf(await auth(app, { idToken, ...values }))).toBe("400 provider_refused");
    }
  });

  it.each(["with", "without"])("take no other ephemeral key %s a prover, and the token stays good", async (which) => {
    await using app = await openSignInApp(() => (which === "with" ? {} : { prover: null }));
    const { json } = await afterStepOne(app);
    const stolen = { idToken: json.idToken, ...makeEphemeral().values };
    expect(outcomeOf(await auth(app, stolen))).toBe("400 proof_invalid");
    expect((await auth(app, json)).status).toBe(200);
  });

  it("take a proof that the client had made, if it fits", async () => {
    const { json, salt } = await afterStepOne(app);
    const { idToken, ...values } = json;
    const key = { publicKey: values.ephemeralPublicKey, maxEpoch: values.maxEpoch, randomness: values.randomness };
    const proof = await openDevelopmentProver(suiZklogin).prove({ idToken, key, salt });
    const forged = { ...proof, addressSeed: "1" };
    expect(outcomeOf(await auth(app, { ...json, proof: forged }))).toBe("400 proof_invalid");
    const { status, body } = await auth(app, { ...json, proof });
    expect(status).toBe(200);
    expect(body["proof"]).toEqual(proof);
  });
});

describe("the prover", () => {
  const down: Prover = {
    capabilities: { checks: false },
    prove: () => Promise.reject(new ProverUnavailableError("the prover cannot be reached")),
    check: () => Promise.resolve(true),
  };

  it("that does not answer leaves no session behind, and the next sign-in needs no new access code", async () => {
    await using app = await openSignInApp(() => ({ prover: down }));
    expect(outcomeOf(await signIn(app))).toBe("503 provider_unavailable");
    expect(await countRows(app.service, "sessions")).toBe(0);
    expect(await readAccount(app)).toMatchObject({ chain_address: null });
    expect(outcomeOf(await signIn(app, { accessCode: null }))).toBe("503 provider_unavailable");
    // A token that step one handed out is not used up by it.
    const { json } = await afterStepOne(app, { accessCode: null });
    expect(outcomeOf(await auth(app, json))).toBe("503 provider_unavailable");
    const proof = { proofPoints: { a: [], b: [], c: [] }, headerBase64: "", addressSeed: "1" };
    const own = { ...proof, issBase64Details: { value: "", indexMod4: 0 } };
    expect((await auth(app, { ...json, proof: own })).status).toBe(200);
  });

  it("is not needed: without one the client has its proofs made elsewhere", async () => {
    await using app = await openSignInApp(() => ({ prover: null }));
    const { status, body } = await signIn(app);
    expect(status).toBe(200);
    expect(body["proof"]).toBeNull();
  });

  it("that nobody can reach says nothing of what it was asked", async () => {
    const unreachable = openHostedProver({ url: "http://127.0.0.1:9", apiKey: "prover-key-012345" }, suiZklogin);
    await using app = await openSignInApp(() => ({ prover: unreachable }));
    const { returned, values } = await comeBackWithKey(app);
    const answer = await auth(app, { ...returned, ...values });
    expect(outcomeOf(answer)).toBe("503 provider_unavailable");
    for (const secret of ["prover-key-012345", values.randomness, returned.code]) {
      expect(app.service.logged() + answer.text).not.toContain(secret);
    }
  });
});

it("a token that the provider hands out twice in one second is kept once, and opens one session", async () => {
  const { deps } = app.service;
  // A signature without randomness over the same claims is the same token.
  for (let time = 0; time < 2; time += 1) await rememberToken(deps, "header.claims.signature", "nonce");
  const use = () => deps.database.transaction((inside) => useToken(deps, inside, "header.claims.signature", "nonce"));
  expect([await use(), await use()]).toEqual([true, false]);
});

it("no log line holds a code, state, token, salt, nonce, proof or randomness", async () => {
  const ephemeral = makeEphemeral();
  const { returned, values } = await comeBackWithKey(app, {}, ephemeral);
  const one = await stepOne(app, returned);
  const two = await auth(app, { idToken: one.body["idToken"], ...values });
  await auth(app, { idToken: one.body["idToken"], ...values });
  await auth(app, { ...returned, ...values });
  const { proof, ...rest } = two.body as Record<string, string> & { proof: { proofPoints: { c: string[] } } };
  const secrets = [
    ...[returned.code, returned.state, ephemeral.nonce, values.randomness, one.body["idToken"]],
    ...[rest["salt"], rest["accessToken"], rest["refreshToken"], proof.proofPoints.c[0]],
  ];
  const logged = app.service.logged();
  expect(logged).toContain("identityProvider.zkloginAuth");
  for (const secret of secrets) expect(logged).not.toContain(String(secret));
  const { database } = app.service.deps;
  const rows = JSON.stringify([
    await database.all(database.build.selectFrom("accounts").selectAll()),
    await database.all(database.build.selectFrom("changes").selectAll()),
    await database.all(database.build.selectFrom("sign_ins").selectAll()),
  ]);
  for (const secret of secrets) expect(rows).not.toContain(String(secret));
});
