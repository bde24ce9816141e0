/** `sui.rpc.v2.MovePackageService`: published packages and their functions. */
import { GrpcTypes } from "@mysten/sui/grpc";
import { RpcFailure } from "./grpc-web.ts";
import { type Methods, method } from "./method.ts";
import { functionMessage, packageMessage } from "./object-messages.ts";
import { readAddress } from "./transaction-messages.ts";

const T = GrpcTypes;

export const PACKAGE_SERVICE: Methods = {
  GetPackage: method(T.GetPackageRequest, T.GetPackageResponse, ({ view }, { packageId }) => {
    const object = view.objects.get(readAddress(packageId));
    if (object?.data.kind !== "package") throw new RpcFailure("NOT_FOUND", `Package ${packageId ?? ""} not found`);
    return { package: packageMessage(object, view) };
  }),
  GetFunction: method(T.GetFunctionRequest, T.GetFunctionResponse, ({ view }, { packageId, moduleName, name }) => {
    const module = view.findModule(readAddress(packageId), moduleName ?? "");
    const called = module?.functions.find((candidate) => candidate.name === name);
    if (called === undefined)
      throw new RpcFailure("NOT_FOUND", `Function ${moduleName ?? ""}::${name ?? ""} not found`);
    return { function: functionMessage(called) };
  }),
};
