/** Search over the names that the service can read (decision 0053). */
import * as z from "zod/mini";
import { object, strictObject } from "./object.ts";
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
  /** Search files by words of their names, type, size, date, author and place; best first, then newest. Names that only members can read are not looked at. */
  search: endpoint({
    id: "files.search",
    auth: "credential",
    access: "agent",
    vaultLimit: "filter",
    scope: "files:read",
    method: "GET",
    path: "/api/files/search",
    effect: "read",
    query: strictObject({
      ...pageQuery,
      /** Words to find in names, at most 16 and 256 characters. Case and accents do not matter. Default: every name. */
      q: z.optional(searchText),
      /** UUID of the only vault to search. Default: every vault of your account that you may read. */
      vaultId: z.optional(uuid),
      /** Searches only this folder and all below it. Default: everywhere. */
      folderId: z.optional(uuid),
      /** Media type such as `image/png`, or its first half such as `image/`. Default: every type. */
      type: z.optional(mediaTypeOrHalf),
      /** Fewest stored bytes. Default: 0. */
      minSize: z.optional(bytes),
      /** Most stored bytes. Default: any number. */
      maxSize: z.optional(bytes),
      /** Only files made at this time or later: RFC 3339 in UTC. Default: from the first one on. */
      since: z.optional(timestamp),
      /** Only files made before this time: RFC 3339 in UTC. Default: up to now. */
      until: z.optional(timestamp),
      /** Only files of this author: the UUID of a key or session, or a chain address. Default: every author. */
      by: z.optional(keyOrAddress),
      /** `true`: only items in the trash. Default: `false`, only items outside it. */
      trashed: z.optional(booleanText),
    }),
    status: 200,
    output: object({
      /** Files, newest first. */
      files: z.array(file),
      /** Pass it as `cursor` to get the next page. null: this is the last page. */
      nextCursor: z.nullable(z.string()),
      /** false: the page looked at the most rows that one page may, and `nextCursor` goes on. An empty page is then no answer yet. `true` says nothing of names that only members can read. */
      complete: z.boolean(),
    }),
    errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
} as const;
