import { api } from "@coffer/contract";
import * as z from "zod/mini";

/** A hundred rows stay well below what hosts cut off (25,000 tokens). */
export const MAX_ROWS = 100;
const DEFAULT_ROWS = 50;

/** Arguments of every list. The cursor is the contract's; the limit is a model's, smaller than the service's. */
export const pageInput = {
  limit: z._default(z.int().check(z.gte(1), z.lte(MAX_ROWS)), DEFAULT_ROWS),
  cursor: api.vaults.list.query.shape.cursor,
};
