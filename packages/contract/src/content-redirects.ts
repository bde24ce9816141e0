/**
 * Downloads that come from the store itself (decision 0129). Only servers, and clients in Node that are told to
 * follow, need it.
 */
import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { filesGroup } from "./files.ts";

/** The origins at which the client takes contents, with spaces between them: `https://s3.example.com`. Without it there is no redirect. */
export const CONTENT_ORIGINS_HEADER = "Coffer-Content-Origins";

const { content } = filesGroup;

/** Belongs to `files`, in the place of the endpoint that never redirects. */
export const redirectsGroup = {
  /** The bytes, whole or one range (RFC 9110 §14). */
  content: endpoint({
    ...content,
    headers: z.extend(content.headers, {
      /** Origins at which the client takes contents, with spaces between them. Default: none, and the service sends the bytes itself. */
      "coffer-content-origins": z.optional(z.string().check(z.maxLength(2048))),
    }),
    otherStatuses: [...content.otherStatuses, 307],
  }),
} as const;
