/** SealClient reads the key servers and the package for every client and every encryption; they hardly ever change. */
import type { SealCompatibleClient } from "@mysten/seal";
import type { SuiGrpcClient } from "@mysten/sui/grpc";

export interface ReadCache {
  readonly client: SealCompatibleClient;
  /** The next reads ask the node again. */
  forget(): void;
}

/** A client that makes each of SealClient's two reads once, and those of all key servers in one request. It repeats a failed read. */
export function cacheReads(client: SuiGrpcClient): ReadCache {
  const cache = new Map<string, Promise<unknown>>();
  const once = <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const remembered = cache.get(key) as Promise<T> | undefined;
    if (remembered !== undefined) return remembered;
    const reading = read();
    cache.set(key, reading);
    reading.catch(() => cache.delete(key));
    return reading;
  };
  // Both reads ask for objects by the object that they are called on.
  const joined = Object.assign(Object.create(client.core) as SuiGrpcClient["core"], { getObjects: joinReads(client) });
  const overridden: Pick<SealCompatibleClient["core"], "getObject" | "getDynamicField"> = {
    getObject: (options) => once(JSON.stringify(["object", options]), () => joined.getObject(options)),
    getDynamicField: (options) =>
      once(JSON.stringify(["field", options.parentId, options.name.type, [...options.name.bcs]]), () =>
        joined.getDynamicField(options),
      ),
  };
  const core = Object.assign(Object.create(client.core) as SealCompatibleClient["core"], overridden);
  return {
    client: Object.assign(Object.create(client) as SealCompatibleClient, { core }),
    forget: () => cache.clear(),
  };
}

type GetObjects = SealCompatibleClient["core"]["getObjects"];

/** Reads of the same parts that are asked for together go together: the answer has the objects in their order. */
function joinReads(client: SuiGrpcClient): GetObjects {
  interface Waiting {
    readonly objectIds: readonly string[];
    readonly settle: PromiseWithResolvers<Awaited<ReturnType<GetObjects>>>;
  }
  const waiting = new Map<string, Waiting[]>();
  const send = async (key: string, include: Parameters<GetObjects>[0]["include"]): Promise<void> => {
    const all = waiting.get(key) ?? [];
    waiting.delete(key);
    try {
      const { objects } = await client.core.getObjects({
        objectIds: all.flatMap(({ objectIds }) => objectIds),
        ...(include === undefined ? {} : { include }),
      });
      let at = 0;
      for (const { objectIds, settle } of all) settle.resolve({ objects: objects.slice(at, (at += objectIds.length)) });
    } catch (error) {
      for (const { settle } of all) settle.reject(error);
    }
  };
  return ((options: Parameters<GetObjects>[0]) => {
    const key = JSON.stringify(options.include);
    const settle = Promise.withResolvers<Awaited<ReturnType<GetObjects>>>();
    const others = waiting.get(key);
    if (others !== undefined) others.push({ objectIds: options.objectIds, settle });
    else {
      waiting.set(key, [{ objectIds: options.objectIds, settle }]);
      setTimeout(() => void send(key, options.include), 0);
    }
    return settle.promise;
  }) as GetObjects;
}
