/** The faucet: an account that owns all SUI of the chain and gives some of it away, by transactions like everybody's. */
import { fromBase64, toBase64 } from "@mysten/bcs";
import { bcs } from "@mysten/sui/bcs";
import { isValidSuiAddress, normalizeSuiAddress } from "@mysten/sui/utils";
import { faucetKeypair } from "./chain/genesis.ts";
import { REFERENCE_GAS_PRICE } from "./chain/gas.ts";
import type { Ledger } from "./chain/ledger.ts";
import { balanceOf } from "./chain/objects.ts";
import { encodeTransaction, type TransactionForm } from "./chain/transaction-form.ts";
import { executeSigned } from "./rpc/execution-service.ts";
import { suiCoinsOf } from "./rpc/resolution.ts";

export interface FaucetGift {
  /** In MIST. */
  readonly amount: bigint;
  /** Type of the coin. */
  readonly id: string;
  readonly transferTxDigest: string;
}

export interface Faucet {
  /** @throws RangeError for an invalid address or amount. */
  give(address: string, amount?: bigint): Promise<FaucetGift>;
  /** Gives to an address whose coins hold less than two SUI. */
  giveIfPoor(address: string): Promise<void>;
  /** Answers `POST /v2/gas` as Sui's own faucet does, for `@mysten/sui/faucet`. */
  answer(request: Request): Promise<Response>;
}

const ONE_SUI = 1_000_000_000n;
const GIFT = 10n * ONE_SUI;
const MOST = 1_000_000n * ONE_SUI;
const BUDGET = 50_000_000n;
const MAX_REQUEST_BYTES = 4096;

export function openFaucet(ledger: Ledger): Faucet {
  // One at a time: each spends the coin that the one before left.
  let turn: Promise<unknown> = Promise.resolve();
  const give = (address: string, amount: bigint = GIFT): Promise<FaucetGift> => {
    const recipient = parseRecipient(address);
    if (amount <= 0n || amount > MOST) throw new RangeError("the faucet gives up to a million SUI");
    const gift = turn.then(() => send(ledger, recipient, amount));
    turn = gift.catch(() => null);
    return gift;
  };
  return {
    give: async (address, amount) => give(address, amount),
    giveIfPoor: async (address) => {
      const sum = suiCoinsOf(ledger, address).reduce((total, coin) => total + balanceOf(coin), 0n);
      if (sum < 2n * ONE_SUI) await give(address);
    },
    answer: (request) => answerHttp(request, give),
  };
}

function parseRecipient(address: string): string {
  const normal = normalizeSuiAddress(address);
  if (!isValidSuiAddress(normal)) throw new RangeError("the faucet gives to addresses");
  return normal;
}

async function send(ledger: Ledger, recipient: string, amount: bigint): Promise<FaucetGift> {
  const keypair = faucetKeypair();
  const owner = keypair.toSuiAddress();
  const [coin] = suiCoinsOf(ledger, owner);
  if (coin === undefined) throw new Error("the faucet is empty");
  const payment = [{ objectId: coin.id, version: String(coin.version), digest: coin.digest }];
  const form: TransactionForm = {
    sender: owner,
    inputs: [pure(bcs.Address.serialize(recipient).toBytes()), pure(bcs.u64().serialize(amount).toBytes())],
    commands: [
      { $kind: "SplitCoins", SplitCoins: { coin: { $kind: "GasCoin", GasCoin: true }, amounts: [input(1)] } },
      {
        $kind: "TransferObjects",
        TransferObjects: { objects: [{ $kind: "NestedResult", NestedResult: [0, 0] }], address: input(0) },
      },
    ],
    gas: { payment, owner, price: REFERENCE_GAS_PRICE, budget: BUDGET },
    expiration: { $kind: "None", None: true },
  };
  const bytes = encodeTransaction(form);
  const { signature } = await keypair.signTransaction(bytes);
  const { effects, digest } = await executeSigned(ledger, bytes, [fromBase64(signature)]);
  const made = effects?.changedObjects.find((change) => change.outputOwner?.address === recipient);
  if (effects?.status?.success !== true || made?.objectId === undefined || digest === undefined) {
    throw new Error(`the faucet's transaction failed: ${effects?.status?.error?.description ?? "no coin was made"}`);
  }
  return { amount, id: made.objectId, transferTxDigest: digest };
}

function pure(bytes: Uint8Array) {
  return { $kind: "Pure", Pure: { bytes: toBase64(bytes) } } as const;
}

function input(index: number) {
  return { $kind: "Input", Input: index } as const;
}

async function answerHttp(request: Request, give: (address: string) => Promise<FaucetGift>): Promise<Response> {
  try {
    const { amount, ...gift } = await give(recipientIn(await readText(request)));
    return Response.json({ status: "Success", coins_sent: [{ amount: Number(amount), ...gift }] });
  } catch (error) {
    const internal = error instanceof Error ? error.message : "unknown error";
    return Response.json({ status: { Failure: { internal } }, coins_sent: null }, { status: 400 });
  }
}

/** Any page may ask, so no more is held in memory than a request can have. */
async function readText(request: Request): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request.body ?? []) {
    size += part.length;
    if (size > MAX_REQUEST_BYTES) throw new RangeError("the request is too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function recipientIn(text: string): string {
  const body: unknown = JSON.parse(text);
  const inner = propertyOf(body, "FixedAmountRequest");
  const recipient = propertyOf(inner, "recipient");
  if (typeof recipient !== "string") throw new RangeError("expected { FixedAmountRequest: { recipient } }");
  return recipient;
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
