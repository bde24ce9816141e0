/** API keys of both prefixes, invite codes, JSON Web Tokens, and whatever follows a Bearer scheme or a password field. */
const SECRETS: readonly RegExp[] = [
  /\b(?:cofi|coffer|cof)_[0-9A-Za-z._-]{8,}/g,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  /(?<=\bbearer\s+)[^\s"',;]+/gi,
  /(?<="(?:password|newPassword|currentPassword|token|refreshToken|secret|code|key|apiKey)"\s*:\s*")[^"]*/g,
];

/** The text with everything that looks like a credential replaced. */
export function redact(text: string): string {
  return SECRETS.reduce((rest, pattern) => rest.replaceAll(pattern, "[redacted]"), text);
}
