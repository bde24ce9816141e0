/** TEST ONLY: the least that production starts with, and what is wrong with a configuration. */
import { hash } from "node:crypto";
import { ConfigError, type Environment, parseConfig } from "../config.ts";

export const PRODUCTION = {
  SERVICE_ENV: "production",
  SERVICE_MASTER_KEY: hash("sha256", "a master key of tests"),
  SERVICE_JWT_KEYS: `k1:${hash("sha256", "a key of tests for tokens", "base64")}`,
  SERVICE_PUBLIC_URL: "https://coffer.example/base/",
};

export function problemsOf(environment: Environment): readonly string[] {
  try {
    parseConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
