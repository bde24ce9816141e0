/** Where a store is, and how it is spoken to. */
export interface S3Settings {
  /** `https://s3.eu-central-1.amazonaws.com`, without a path. */
  readonly endpoint: string;
  readonly bucket: string;
  /** In front of all names: empty, or ending in a slash. */
  readonly prefix: string;
  readonly region: string;
  /** The bucket is in the path; false: in the host name. */
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
  /** What the store is asked to encrypt with; null: whatever the bucket says. */
  readonly encryption: { readonly method: "AES256" | "aws:kms"; readonly keyId: string | null } | null;
  /** Certificates in PEM to trust instead of the system's. */
  readonly trust: string | null;
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
