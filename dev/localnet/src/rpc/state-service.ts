/** `sui.rpc.v2.StateService`: what an address owns. */
import { GrpcTypes } from "@mysten/sui/grpc";
import type { LedgerView } from "../chain/ledger.ts";
import { balanceOf, isCoin, type StoredObject } from "../chain/objects.ts";
import { type MoveType, parseType, renderType } from "../move/types.ts";
import { RpcFailure } from "./grpc-web.ts";
import { type Methods, method } from "./method.ts";
import { objectMessage } from "./object-messages.ts";
import { masked } from "./read-mask.ts";
import { readAddress } from "./transaction-messages.ts";

const T = GrpcTypes;
const MAX_PAGE = 1000;
const DEFAULT_PAGE = 50;

export const STATE_SERVICE: Methods = {
  GetBalance: method(T.GetBalanceRequest, T.GetBalanceResponse, ({ view }, { owner, coinType }) => {
    const wanted = renderType(readType(coinType ?? ""));
    const found = balancesOf(view, readAddress(owner)).find((balance) => balance.coinType === wanted);
    return { balance: found ?? balanceMessage(wanted, 0n) };
  }),
  ListBalances: method(T.ListBalancesRequest, T.ListBalancesResponse, ({ view }, { owner }) => ({
    balances: balancesOf(view, readAddress(owner)),
  })),
  ListOwnedObjects: method(T.ListOwnedObjectsRequest, T.ListOwnedObjectsResponse, ({ view }, request) => {
    const owned = ownedBy(view, readAddress(request.owner)).filter(filterFor(request.objectType));
    // A page begins behind the id that ended the one before.
    const after = Buffer.from(request.pageToken ?? []).toString("utf8");
    const rest = owned.filter((object) => object.id > after);
    const page = rest.slice(0, Math.min(request.pageSize ?? DEFAULT_PAGE, MAX_PAGE));
    const last = page.at(-1);
    return {
      objects: page.map((object) =>
        masked(T.Object, objectMessage(object, view), request.readMask, "object_id,version,object_type"),
      ),
      ...(last === undefined || page.length === rest.length
        ? {}
        : { nextPageToken: new TextEncoder().encode(last.id) }),
    };
  }),
};

function ownedBy(view: LedgerView, owner: string): StoredObject[] {
  return [...view.objects.values()]
    .filter((object) => object.owner.kind === "address" && object.owner.address === owner)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** A type without its type arguments means all of them. */
function filterFor(objectType: string | undefined): (object: StoredObject) => boolean {
  if (objectType === undefined || objectType === "") return () => true;
  const wanted = renderType(readType(objectType));
  return ({ data }) => {
    if (data.kind === "package") return false;
    const type = renderType(data.type);
    return type === wanted || type.startsWith(`${wanted}<`);
  };
}

function readType(text: string): MoveType {
  try {
    return parseType(text);
  } catch {
    throw new RpcFailure("INVALID_ARGUMENT", "invalid type");
  }
}

function balancesOf(view: LedgerView, owner: string): GrpcTypes.Balance[] {
  const sums = new Map<string, bigint>();
  for (const object of ownedBy(view, owner)) {
    if (object.data.kind !== "move" || !isCoin(object.data.type)) continue;
    const [coinType] = object.data.type.typeArguments;
    if (coinType === undefined) continue;
    const name = renderType(coinType);
    sums.set(name, (sums.get(name) ?? 0n) + balanceOf(object));
  }
  return [...sums].map(([coinType, balance]) => balanceMessage(coinType, balance));
}

function balanceMessage(coinType: string, balance: bigint): GrpcTypes.Balance {
  return { coinType, balance, coinBalance: balance, addressBalance: 0n };
}
