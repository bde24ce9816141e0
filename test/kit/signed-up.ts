/** An account of its own at a development server, for programs that send by hand whatever they are about. */
import { randomUUID } from "node:crypto";
import { createClient, type Client } from "@coffer/sdk";

export interface SignedUp {
  /** With the owner's key. */
  readonly client: Client;
  /** The owner's key, with all rights. */
  readonly key: string;
}

export async function signUp(baseUrl: string): Promise<SignedUp> {
  const email = `${randomUUID()}@example.com`;
  const { apiKey } = await createClient({ baseUrl }).development.signup({ email });
  return { key: apiKey, client: createClient({ baseUrl, credentials: { apiKey } }) };
}
