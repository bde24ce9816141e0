import * as z from "zod/mini";
import { object, strictObject } from "./object.ts";
import { endpoint } from "./endpoint.ts";
import { email, label, uuid } from "./values.ts";

/** Specification §2.3. */
const devSignupResult = object({
  /** UUID of the new account. */
  id: uuid,
  /** E-mail address in lower case. */
  email: z.string(),
  /** The full API key. It is a secret and is shown once. */
  apiKey: z.string(),
  /** Reminds you that the key is shown once. */
  warning: z.string(),
});

export const developmentGroup = {
  /** Create an account and an API key without a password; development only, else 404. */
  signup: endpoint({
    id: "development.signup",
    method: "POST",
    path: "/api/auth/dev-signup",
    auth: "none",
    access: "anyone",
    scope: null,
    vaultLimit: "none",
    effect: "create",
    body: strictObject({
      /** E-mail address, at most 254 characters. Letters are stored in lower case. */
      email,
      /** Name for people to read: 1 to 200 characters. Default: none. */
      name: z.optional(label),
    }),
    status: 200,
    output: devSignupResult,
    errors: ["not_found", "email_exists", "development_origin"],
    secretResponse: true,
  }),
} as const;
