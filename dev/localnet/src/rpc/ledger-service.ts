/** `sui.rpc.v2.LedgerService`: objects, transactions, epochs, and how fresh the node is. */
import { fromBase58, toBase58 } from "@mysten/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import { REFERENCE_GAS_PRICE } from "../chain/gas.ts";
import type { LedgerView } from "../chain/ledger.ts";
import { hashOf } from "../chain/objects.ts";
import { RpcFailure, STATUS } from "./grpc-web.ts";
import { objectMessage } from "./object-messages.ts";
import { timestampMessage } from "./outcome-messages.ts";
import { masked } from "./read-mask.ts";
import { readAddress } from "./transaction-messages.ts";
import type { Methods } from "./method.ts";
import { method } from "./method.ts";

const OBJECT_DEFAULT = "object_id,version,digest";
const MAX_BATCH = 1000;
const PROTOCOL_VERSION = 100n;
/** A day, as on mainnet. */
const EPOCH_MILLISECONDS = 86_400_000n;

const T = GrpcTypes;

export const LEDGER_SERVICE: Methods = {
  GetServiceInfo: method(T.GetServiceInfoRequest, T.GetServiceInfoResponse, ({ view }) => ({
    chainId: view.chainId,
    chain: "localnet",
    epoch: BigInt(view.epoch),
    checkpointHeight: BigInt(view.height),
    timestamp: timestampMessage(view.checkpointTime()),
    lowestAvailableCheckpoint: 0n,
    lowestAvailableCheckpointObjects: 0n,
    server: "coffer-localnet/0.1.0",
  })),
  GetObject: method(T.GetObjectRequest, T.GetObjectResponse, ({ view }, { objectId, version, readMask }) => ({
    object: masked(T.Object, findObject(view, objectId, version), readMask, OBJECT_DEFAULT),
  })),
  BatchGetObjects: method(T.BatchGetObjectsRequest, T.BatchGetObjectsResponse, ({ view }, { requests, readMask }) => {
    if (requests.length > MAX_BATCH) throw new RpcFailure("INVALID_ARGUMENT", "too many objects in one batch");
    return { objects: requests.map((request) => objectResult(view, request, readMask)) };
  }),
  GetTransaction: method(T.GetTransactionRequest, T.GetTransactionResponse, ({ view }, { digest, readMask }) => ({
    transaction: masked(T.ExecutedTransaction, findTransaction(view, digest ?? ""), readMask, "digest"),
  })),
  GetCheckpoint: method(T.GetCheckpointRequest, T.GetCheckpointResponse, ({ view }, { checkpointId, readMask }) => ({
    checkpoint: masked(T.Checkpoint, findCheckpoint(view, checkpointId), readMask, "sequence_number,digest"),
  })),
  GetEpoch: method(T.GetEpochRequest, T.GetEpochResponse, ({ view }, { epoch, readMask }) => {
    if (epoch !== undefined && epoch !== BigInt(view.epoch)) {
      throw new RpcFailure("NOT_FOUND", "the local chain keeps the current epoch only");
    }
    return { epoch: masked(T.Epoch, epochMessage(view), readMask, "epoch,reference_gas_price,start") };
  }),
};

function findObject(view: LedgerView, id: string | undefined, version: bigint | undefined): GrpcTypes.Object {
  const object = view.objects.get(readAddress(id));
  if (object === undefined) throw new RpcFailure("NOT_FOUND", `Object ${id ?? ""} not found`);
  if (version !== undefined && version !== object.version) {
    throw new RpcFailure(
      "NOT_FOUND",
      `Object ${object.id} version ${version} not found: current versions are kept only`,
    );
  }
  return objectMessage(object, view);
}

function objectResult(
  view: LedgerView,
  { objectId, version }: GrpcTypes.GetObjectRequest,
  mask: { readonly paths: readonly string[] } | undefined,
): GrpcTypes.GetObjectResult {
  try {
    const object = masked(T.Object, findObject(view, objectId, version), mask, OBJECT_DEFAULT);
    return { result: { oneofKind: "object", object } };
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    return {
      result: { oneofKind: "error", error: { code: STATUS[error.status], message: error.message, details: [] } },
    };
  }
}

function findTransaction(view: LedgerView, digest: string): GrpcTypes.ExecutedTransaction {
  if (decodedLength(digest) !== 32) throw new RpcFailure("INVALID_ARGUMENT", "invalid digest");
  const record = view.readTransaction(digest);
  if (record === null) throw new RpcFailure("NOT_FOUND", `Transaction ${digest} not found`);
  return T.ExecutedTransaction.fromBinary(record);
}

function decodedLength(digest: string): number {
  try {
    return digest.length > 64 ? 0 : fromBase58(digest).length;
  } catch {
    return 0;
  }
}

/** A checkpoint for each change of the chain; only what clients judge freshness by is kept of them: the newest one's time. */
function findCheckpoint(view: LedgerView, id: GrpcTypes.GetCheckpointRequest["checkpointId"]): GrpcTypes.Checkpoint {
  const sequenceNumber = BigInt(view.height);
  const digest = toBase58(hashOf("Checkpoint", new TextEncoder().encode(`${view.chainId} ${view.height}`)));
  const isNewest =
    id.oneofKind === undefined ||
    (id.oneofKind === "sequenceNumber" ? id.sequenceNumber === sequenceNumber : id.digest === digest);
  if (!isNewest) throw new RpcFailure("NOT_FOUND", "the local chain keeps its newest checkpoint only");
  const summary: GrpcTypes.CheckpointSummary = {
    digest,
    epoch: BigInt(view.epoch),
    sequenceNumber,
    totalNetworkTransactions: sequenceNumber,
    timestamp: timestampMessage(view.checkpointTime()),
    commitments: [],
  };
  return { sequenceNumber, digest, summary, transactions: [] };
}

function epochMessage(view: LedgerView): GrpcTypes.Epoch {
  const epoch = BigInt(view.epoch);
  const start = view.checkpointTime();
  return {
    epoch,
    referenceGasPrice: REFERENCE_GAS_PRICE,
    start: timestampMessage(start),
    protocolConfig: T.ProtocolConfig.create({ protocolVersion: PROTOCOL_VERSION }),
    systemState: {
      version: 2n,
      epoch,
      protocolVersion: PROTOCOL_VERSION,
      referenceGasPrice: REFERENCE_GAS_PRICE,
      epochStartTimestampMs: BigInt(start),
      safeMode: false,
      parameters: { epochDurationMs: EPOCH_MILLISECONDS },
      validatorReportRecords: [],
    },
  };
}
