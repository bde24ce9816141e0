/** Authors of files, folders, versions and entries. */
import * as z from "zod/mini";
import { chainAddress, openEnum, uuid } from "./values.ts";

/** What names a credential, without its rights. */
export const namedCredential = {
  kind: openEnum(["api-key", "session", "development"]),
  id: z.nullable(uuid),
  name: z.nullable(z.string()),
  chainAddress: z.nullable(chainAddress),
};

/** The caller that made something, with its credential as it was then. null: nobody noted it. */
export const author = z.nullable(z.object(namedCredential));

export type Author = NonNullable<z.infer<typeof author>>;
