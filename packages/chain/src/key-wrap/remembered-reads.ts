/** SealClient reads the key servers and the package for every client and every encryption; they hardly ever change. */
import type { SealCompatibleClient } from "@mysten/seal";
import type { SuiGrpcClient } from "@mysten/sui/grpc";

export interface RememberedReads {
  readonly client: SealCompatibleClient;
  /** The next reads ask the node again. */
  forget(): void;
}

/** A client that makes each of SealClient's two reads once. It repeats a failed read. */
export function rememberReads(client: SuiGrpcClient): RememberedReads {
  const known = new Map<string, Promise<unknown>>();
  const once = <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const remembered = known.get(key) as Promise<T> | undefined;
    if (remembered !== undefined) return remembered;
    const reading = read();
    known.set(key, reading);
    reading.catch(() => known.delete(key));
    return reading;
  };
  const overridden: Pick<SealCompatibleClient["core"], "getObject" | "getDynamicField"> = {
    getObject: (options) => once(JSON.stringify(["object", options]), () => client.core.getObject(options)),
    getDynamicField: (options) =>
      once(JSON.stringify(["field", options.parentId, options.name.type, [...options.name.bcs]]), () =>
        client.core.getDynamicField(options),
      ),
  };
  const core = Object.assign(Object.create(client.core) as SealCompatibleClient["core"], overridden);
  return {
    client: Object.assign(Object.create(client) as SealCompatibleClient, { core }),
    forget: () => known.clear(),
  };
}
