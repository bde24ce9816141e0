/** How key servers refuse: the names and statuses of MystenLabs/seal `crates/key-server/src/errors.rs`. */

const STATUSES = {
  InvalidPTB: 403,
  InvalidPackage: 403,
  NoAccess: 403,
  InvalidCertificate: 403,
  InvalidSignature: 403,
  InvalidSessionSignature: 403,
  InvalidParameter: 403,
  InvalidMVRName: 403,
  InvalidSDKVersion: 400,
  InvalidServiceId: 400,
  UnsupportedPackageId: 400,
  MissingRequiredHeader: 400,
  DeprecatedSDKVersion: 426,
  Failure: 503,
} as const;

export type KeyServerErrorName = keyof typeof STATUSES;

export class KeyServerError extends Error {
  readonly error: KeyServerErrorName;

  constructor(error: KeyServerErrorName, message: string) {
    super(message);
    this.name = "KeyServerError";
    this.error = error;
  }

  toResponse(): Response {
    return Response.json({ error: this.error, message: this.message }, { status: STATUSES[this.error] });
  }
}

/** A body that is no request at all: answered in plain text, before the key server has looked at it. */
export class BadBodyError extends Error {
  readonly status: 400 | 413 | 422;

  constructor(status: 400 | 413 | 422, message: string) {
    super(message);
    this.name = "BadBodyError";
    this.status = status;
  }

  toResponse(): Response {
    return new Response(this.message, {
      status: this.status,
      headers: { "content-type": "text/plain; charset=utf-8" },
    });
  }
}
