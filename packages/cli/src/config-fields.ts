/** The fields of a profile that `coffer config` reads and changes. Keys are not among those that it sets. */
import type { Profile } from "@coffer/sdk/node";

export const FIELDS = [
  "base-url",
  "network-file",
  "content-origins",
  "install-line",
  "default-profile",
  "key-store",
] as const;
export const SECRETS = ["api-key", "session", "chain-key"] as const;

export type Field = (typeof FIELDS)[number];

/** A secret is only "set" or not. */
export function secretState(profile: Profile | null): Readonly<Record<(typeof SECRETS)[number], "set" | null>> {
  const state = (value: unknown): "set" | null => (value == null ? null : "set");
  return {
    "api-key": state(profile?.apiKey),
    session: state(profile?.session),
    "chain-key": state(profile?.chainPrivateKey),
  };
}
