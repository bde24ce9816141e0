import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { email, label, uuid } from "./values.ts";

/** Specification §2.3. */
const devSignupResult = z.object({ id: uuid, email: z.string(), apiKey: z.string(), warning: z.string() });

export const developmentGroup = {
  signup: endpoint({
    id: "development.signup",
    method: "POST",
    path: "/api/auth/dev-signup",
    auth: "none",
    access: "anyone",
    scope: null,
    vaultLimit: "none",
    effect: "create",
    body: z.strictObject({
      email,
      name: z.optional(label),
    }),
    status: 200,
    output: devSignupResult,
    errors: ["not_found", "email_exists"],
    secretResponse: true,
  }),
} as const;
