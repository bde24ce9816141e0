import { SessionKey } from "@mysten/seal";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction, type TransactionArgument } from "@mysten/sui/transactions";
import { beforeAll, describe, expect, it } from "vitest";
import { openAllowlistChain, PACKAGE, VAULT } from "../../../../test/kit/allowlist-chain.ts";
import { startKeyServers, type KeyServers } from "./index.ts";

const MINUTE = 60_000;
const chain = openAllowlistChain();
const user = Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(1));
let servers: KeyServers;

beforeAll(async () => {
  servers = await startKeyServers(chain.access, {});
  chain.members.add(user.toSuiAddress());
});

/** What a client sends; each test spoils one thing of it. */
interface Body {
  ptb: string;
  enc_key: string;
  enc_verification_key: string;
  request_signature: string;
  certificate: Record<string, unknown>;
}

describe("POST /v1/fetch_key", () => {
  it("answers a member, with the headers that SealClient and browsers ask for", async () => {
    const response = await post(await request());
    expect(response.status).toBe(200);
    expect(response.headers.get("X-KeyServer-Version")).toBe("0.6.10");
    expect(response.headers.get("Access-Control-Expose-Headers")).toBe("*");
    expect(await response.json()).toMatchObject({
      decryption_keys: [{ encrypted_key: [expect.any(String), expect.any(String)] }],
    });
  });

  it("refuses a request that was signed for other keys, by nobody, or by another session", async () => {
    const [one, other] = [await request(), await request()];
    for (const replayed of [
      { ...one, enc_key: other.enc_key },
      { ...one, enc_verification_key: other.enc_verification_key },
      { ...one, request_signature: other.request_signature },
      { ...one, request_signature: base64(new Uint8Array(64)) },
      { ...one, certificate: other.certificate },
    ])
      expect(await refusal(replayed)).toBe("403 InvalidSessionSignature");
  });

  it("refuses a certificate that lasts too long, has ended, or is not yet", async () => {
    const { certificate, ...rest } = await request();
    expect(await refusal({ ...rest, certificate: { ...certificate, ttl_min: 31 } })).toBe("403 InvalidCertificate");
    for (const skew of [11 * MINUTE, -MINUTE]) {
      servers.faults(0).clockSkew = skew;
      expect(await refusal({ ...rest, certificate })).toBe("403 InvalidCertificate");
    }
    servers.faults(0).clockSkew = 0;
  });

  it("refuses a certificate that its user did not sign as it stands", async () => {
    const { certificate, ...rest } = await request();
    const spoiled = {
      user: `0x${"11".repeat(32)}`,
      ttl_min: 9,
      signature: "AA==",
      session_vk: base64(new Uint8Array(32)),
    };
    for (const [field, value] of Object.entries(spoiled))
      expect(await refusal({ ...rest, certificate: { ...certificate, [field]: value } })).toBe("403 InvalidSignature");
    expect(await refusal({ ...rest, certificate: { ...certificate, mvr_name: "@coffer/vault" } })).toBe(
      "403 InvalidMVRName",
    );
  });

  it("refuses whatever is more than approvals of one package", async () => {
    const call = (transaction: Transaction, name = "seal_approve", packageId = PACKAGE): void => {
      transaction.moveCall({ target: `${packageId}::vault::${name}`, arguments: [identityOf(transaction)] });
    };
    const spoiled: Record<string, (transaction: Transaction) => void> = {
      "more than 100 commands": (transaction) => Array.from({ length: 101 }, () => call(transaction)),
      "no command": () => undefined,
      "another function": (transaction) => call(transaction, "create"),
      "an unknown approval": (transaction) => call(transaction, "seal_approve_all"),
      "two packages": (transaction) => [call(transaction), call(transaction, "seal_approve", VAULT)],
      "another command": (transaction) => [call(transaction), transaction.splitCoins(transaction.gas, [1])],
      "no identity": (transaction) => transaction.moveCall({ target: `${PACKAGE}::vault::seal_approve` }),
      "an identity that is an object": (transaction) =>
        transaction.moveCall({ target: `${PACKAGE}::vault::seal_approve`, arguments: [vaultOf(transaction)] }),
      "an identity that is no byte vector": (transaction) =>
        transaction.moveCall({ target: `${PACKAGE}::vault::seal_approve`, arguments: [transaction.pure.u64(1)] }),
      "the result of another command": (transaction) =>
        transaction.moveCall({
          target: `${PACKAGE}::vault::seal_approve`,
          arguments: [identityOf(transaction), transaction.gas],
        }),
    };
    for (const [what, build] of Object.entries(spoiled))
      expect([what, await refusal(await request(build))]).toEqual([what, "403 InvalidPTB"]);
    const { ptb, ...rest } = await request();
    for (const text of [
      "",
      "%%%",
      base64(new Uint8Array(9)),
      base64(Buffer.concat([Buffer.from(ptb, "base64"), Buffer.of(0)])),
    ])
      expect(await refusal({ ...rest, ptb: text })).toBe("403 InvalidPTB");
  });

  it("says that a package or an object is not there, or not yet", async () => {
    const other = `0x${"dd".repeat(32)}`;
    const unknownPackage = await request((transaction) =>
      transaction.moveCall({ target: `${other}::vault::seal_approve`, arguments: [identityOf(transaction)] }),
    );
    expect(await refusal(unknownPackage)).toBe("403 InvalidPackage");
    const newVault = await request((transaction) =>
      transaction.moveCall({
        target: `${PACKAGE}::vault::seal_approve`,
        arguments: [identityOf(transaction), vaultOf(transaction, other)],
      }),
    );
    expect(await refusal(newVault)).toBe("403 InvalidParameter");
  });

  it("refuses bodies of another form, and those above 180 KiB", async () => {
    const body = await request();
    const g1AtInfinity = Buffer.alloc(48);
    g1AtInfinity[0] = 0xc0;
    const forms: [string | Body, number][] = [
      ["not JSON", 400],
      ["[]", 422],
      [JSON.stringify({ ...body, certificate: null }), 422],
      [{ ...body, enc_key: base64(new Uint8Array(48)) }, 422],
      [{ ...body, enc_key: base64(g1AtInfinity) }, 422],
      [{ ...body, enc_verification_key: body.enc_key }, 422],
      [{ ...body, request_signature: "AA==" }, 422],
      [{ ...body, certificate: { ...body.certificate, creation_time: -1 } }, 422],
      [{ ...body, certificate: { ...body.certificate, user: "0x1" } }, 422],
      [{ ...body, ptb: "A".repeat(180 * 1024) }, 413],
    ];
    for (const [form, status] of forms) expect((await post(form)).status).toBe(status);
  });

  it("wants to be told the version of the SDK, and a recent one", async () => {
    const body = await request();
    expect(await refusal(body, {})).toBe("400 MissingRequiredHeader");
    expect(await refusal(body, { "Client-Sdk-Version": "new" })).toBe("400 InvalidSDKVersion");
    const old = { "Client-Sdk-Version": "0.4.4", "Client-Sdk-Type": "typescript" };
    expect(await refusal(body, old)).toBe("426 DeprecatedSDKVersion");
  });
});

describe("the other addresses", () => {
  it("answer only for the server's own object, and an aggregator for none", async () => {
    const service = (path: string): Promise<Response> =>
      servers.handle(new Request(`http://localnet.invalid${path}`, { headers: { "Client-Sdk-Version": "1.4.12" } }));
    const unknown = await service(`/key-servers/0/v1/service?service_id=${VAULT}`);
    expect([unknown.status, await unknown.json()]).toEqual([
      400,
      expect.objectContaining({ error: "InvalidServiceId" }),
    ]);
    expect((await service("/key-servers/committee/v1/service")).status).toBe(400);
    expect((await service("/key-servers/9/v1/service")).status).toBe(404);
    expect((await service("/key-servers/0/v1/other")).status).toBe(404);
  });

  it("answer a browser's question before the request", async () => {
    const url = "http://localnet.invalid/key-servers/0/v1/fetch_key";
    const response = await servers.handle(new Request(url, { method: "OPTIONS" }));
    expect([response.status, response.headers.get("Access-Control-Allow-Origin")]).toEqual([200, "*"]);
  });
});

async function request(build: (transaction: Transaction) => unknown = approve): Promise<Body> {
  const transaction = new Transaction();
  build(transaction);
  const bytes = await transaction.build({ onlyTransactionKind: true });
  const address = user.toSuiAddress();
  const session = { address, packageId: PACKAGE, ttlMin: 10, signer: user, suiClient: chain.client };
  const sessionKey = await SessionKey.create(session);
  const { encKeyPk, encVerificationKey, requestSignature } = await sessionKey.createRequestParams(bytes);
  return {
    ptb: base64(bytes.slice(1)),
    enc_key: base64(encKeyPk),
    enc_verification_key: base64(encVerificationKey),
    request_signature: requestSignature,
    certificate: { ...(await sessionKey.getCertificate()) },
  };
}

function approve(transaction: Transaction): void {
  transaction.moveCall({
    target: `${PACKAGE}::vault::seal_approve`,
    arguments: [identityOf(transaction), vaultOf(transaction)],
  });
}

function identityOf(transaction: Transaction): TransactionArgument {
  return transaction.pure.vector("u8", new Array<number>(56).fill(0));
}

function vaultOf(transaction: Transaction, objectId = VAULT): TransactionArgument {
  return transaction.sharedObjectRef({ objectId, initialSharedVersion: 1, mutable: false });
}

const SDK = { "Client-Sdk-Version": "1.4.12", "Client-Sdk-Type": "typescript" };

async function post(body: Body | string, headers: Record<string, string> = SDK): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const url = "http://localnet.invalid/key-servers/0/v1/fetch_key";
  return await servers.handle(new Request(url, { method: "POST", body: text, headers }));
}

async function refusal(body: Body, headers: Record<string, string> = SDK): Promise<string> {
  const response = await post(body, headers);
  const { error } = (await response.json()) as { error: string };
  return `${response.status} ${error}`;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
