/** Search over the names that the service can read (decision 0053). Clients load it when they need it. */
import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { file } from "./files.ts";
import { searchProblem } from "./search-words.ts";
import { booleanText, integerText, keyOrAddress, pageQuery, timestamp, uuid } from "./values.ts";

const searchText = z.string().check(
  z.check((context) => {
    const problem = searchProblem(context.value);
    if (problem !== null) context.issues.push({ code: "custom", message: problem, input: context.value });
  }),
);

const mediaTypeOrHalf = z
  .string()
  .check(
    z.maxLength(255),
    z.regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]*$/, "expected a media type like image/png, or its first half like image/"),
  );

const bytes = integerText(0, Number.MAX_SAFE_INTEGER);

/** Belongs to `files`. */
export const searchGroup = {
  search: endpoint({
    id: "files.search",
    auth: "credential",
    access: "agent",
    vaultLimit: "filter",
    scope: "files:read",
    method: "GET",
    path: "/api/files/search",
    effect: "read",
    query: z.strictObject({
      ...pageQuery,
      q: z.optional(searchText),
      vaultId: z.optional(uuid),
      /** The folder and all below it. */
      folderId: z.optional(uuid),
      type: z.optional(mediaTypeOrHalf),
      minSize: z.optional(bytes),
      maxSize: z.optional(bytes),
      /** Made then or later. */
      since: z.optional(timestamp),
      /** Made before then. */
      until: z.optional(timestamp),
      by: z.optional(keyOrAddress),
      trashed: z.optional(booleanText),
    }),
    status: 200,
    output: z.object({
      files: z.array(file),
      nextCursor: z.nullable(z.string()),
      /** false: the page ended at the most rows that one page looks at, and `nextCursor` goes on from there. */
      complete: z.boolean(),
    }),
    errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
} as const;
