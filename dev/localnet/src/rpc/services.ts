/** The services of `sui.rpc.v2` that the SDK calls, over gRPC-Web. */
import { ExecutionFailure, RefusedError } from "../chain/failures.ts";
import { UnknownTypeError } from "../move/types.ts";
import { EXECUTION_SERVICE } from "./execution-service.ts";
import { answer, isGrpcWeb, readMessage, refuse, RpcFailure } from "./grpc-web.ts";
import { LEDGER_SERVICE } from "./ledger-service.ts";
import { type Methods, type Node, UnreadableRequestError } from "./method.ts";
import { PACKAGE_SERVICE } from "./package-service.ts";
import { SIGNATURE_SERVICE } from "./signature-service.ts";
import { STATE_SERVICE } from "./state-service.ts";

const SERVICES: Readonly<Record<string, Methods>> = {
  "sui.rpc.v2.LedgerService": LEDGER_SERVICE,
  "sui.rpc.v2.StateService": STATE_SERVICE,
  "sui.rpc.v2.MovePackageService": PACKAGE_SERVICE,
  "sui.rpc.v2.SignatureVerificationService": SIGNATURE_SERVICE,
  "sui.rpc.v2.TransactionExecutionService": EXECUTION_SERVICE,
};

/** Null when the request is no gRPC-Web call. */
export async function answerRpc(node: Node, request: Request): Promise<Response | null> {
  if (request.method !== "POST" || !isGrpcWeb(request)) return null;
  try {
    const [service = "", name = ""] = new URL(request.url).pathname.split("/").slice(-2);
    const methods = Object.hasOwn(SERVICES, service) ? SERVICES[service] : undefined;
    const method = methods !== undefined && Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (method === undefined) throw new RpcFailure("UNIMPLEMENTED", `the local chain has no ${service}/${name}`);
    return answer(request, await method.call(node, await readMessage(request)));
  } catch (error) {
    return refuse(request, failureOf(error));
  }
}

function failureOf(error: unknown): RpcFailure {
  if (error instanceof RpcFailure) return error;
  if (error instanceof RefusedError) return new RpcFailure(error.status, error.message);
  if (error instanceof ExecutionFailure || error instanceof UnknownTypeError) {
    // A function or a type that resolution already looked for.
    return new RpcFailure("INVALID_ARGUMENT", error.message);
  }
  if (error instanceof UnreadableRequestError) return new RpcFailure("INVALID_ARGUMENT", error.message);
  return new RpcFailure("INTERNAL", error instanceof Error ? error.message : "unknown error");
}
