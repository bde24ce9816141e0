/** Where a store is, and how it is spoken to. */
import type { S3BlobsConfig } from "../../../config.ts";

export interface S3Settings extends Omit<S3BlobsConfig, "kind" | "caFile"> {
  /** Certificates in PEM to trust instead of the system's. */
  readonly trust: string | null;
}

/** Whether each body goes with its digest. Over https TLS holds the bytes, and what ends it may be the store itself. */
export function signsBodies({ endpoint, bodies }: Pick<S3Settings, "endpoint" | "bodies">): boolean {
  return bodies === "signed" || !endpoint.startsWith("https:");
}

/** How long a request may be tried. Milliseconds, but for `attempts`. */
export interface Patience {
  readonly attempts: number;
  /** Nothing is tried again after so long. */
  readonly within: number;
  readonly firstWait: number;
  readonly longestWait: number;
  /** A store that says nothing for so long is taken to be away; a large body has more. */
  readonly silence: number;
}

export const PATIENCE: Patience = { attempts: 6, within: 20_000, firstWait: 50, longestWait: 2_000, silence: 15_000 };
