import type { CephStore } from "./store.ts";

/** What a driver needs to use the place; with another endpoint, through a proxy. */
export function settingsOf({ endpoint, bucket, prefix, accessKeyId, secretAccessKey }: CephStore) {
  return {
    ...{ endpoint, bucket, prefix, region: "us-east-1", pathStyle: true, accessKeyId, secretAccessKey },
    ...{ sessionToken: null, encryption: null, trust: null },
  };
}
