import type { CephStore } from "./store.ts";

type Place = Pick<CephStore, "endpoint" | "bucket" | "prefix" | "accessKeyId" | "secretAccessKey">;

/** What a driver needs to use the place; with another endpoint, through a proxy. */
export function settingsOf({ endpoint, bucket, prefix, accessKeyId, secretAccessKey }: Place) {
  return {
    endpoint,
    bucket,
    prefix,
    region: "us-east-1",
    pathStyle: true,
    accessKeyId,
    secretAccessKey,
    sessionToken: null,
    encryption: null,
    bodies: null,
    redirect: null,
    trust: null as string | null,
  };
}

/** The same place over TLS. */
export function secureSettingsOf(store: CephStore) {
  return { ...settingsOf({ ...store, endpoint: store.secureEndpoint }), trust: store.certificate };
}
