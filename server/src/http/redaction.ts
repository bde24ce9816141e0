/** What a credential looks like by itself. */
const FORMS: readonly RegExp[] = [
  // API keys of both prefixes and invite codes, with the secret that a client appends to them.
  /\b(?:cofi|coffer|cof)_[0-9A-Za-z._-]{8,}/g,
  // Secrets of signed events, the chain's private keys, password hashes.
  /\bwhsec_[\w+/=-]{16,}/g,
  /\bsuiprivkey1[0-9a-z]{20,}/g,
  /\$argon2id?\$[^\s"',;]+/g,
  // JSON Web Tokens.
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  // Access codes: five groups of Crockford base32. A UUID has other groups.
  /(?<![\w-])(?:[0-9a-hj-km-np-tv-z]{4}-){4}[0-9a-hj-km-np-tv-z]{4}(?![\w-])/gi,
  // Refresh tokens and mailed tokens: 256 bits in base64url, which are never all in lower case. One chain in 17 has an id of that length.
  /(?<![\w-])(?<!\bthe chain )(?=[a-z_-]*[A-Z0-9])[\w-]{43}(?![\w-])/g,
];

const NAMES = [
  ...["password", "newPassword", "currentPassword", "token", "refreshToken", "accessToken", "idToken", "id_token"],
  ...["access_token", "refresh_token", "accessCode", "code", "state", "nonce", "codeVerifier", "code_verifier"],
  ...["secret", "clientSecret", "client_secret", "salt", "randomness", "key", "apiKey", "signature", "X-Amz-Signature"],
  "X-Amz-Security-Token",
].join("|");

/** Places of a credential: after a scheme, in a field of JSON, of a form or a query, in an address. */
const PLACES: readonly RegExp[] = [
  /(?<=\b(?:bearer|basic)\s+)[^\s"',;]+/gi,
  new RegExp(String.raw`(?<="(?:${NAMES})"\s*:\s*")(?:[^"\\]|\\.)*`, "g"),
  // JSON inside a text of JSON.
  new RegExp(String.raw`(?<=\\"(?:${NAMES})\\"\s*:\s*\\")(?:(?!\\").)*`, "g"),
  new RegExp(String.raw`(?<=(?:^|[?&#\s"'])(?:${NAMES})=)[^&\s"'#]+`, "g"),
  /(?<=:\/\/[^\s/@:]*:)[^\s/@]+(?=@)/g,
];

/** The text with everything that looks like a credential replaced. */
export function redact(text: string): string {
  return [...PLACES, ...FORMS].reduce((rest, pattern) => rest.replaceAll(pattern, "[redacted]"), text);
}
