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

/** Where a page begins: a cursor of the service, and rows of its page that were shown already. */
export interface PageStart {
  readonly cursor: string | null;
  readonly skip: number;
}

/** A cursor of these tools may lie within a page of the service: `skip20~CURSOR`. */
export function readCursor(text: string | undefined): PageStart {
  const [, skip, rest] = /^skip(\d{1,4})~(.*)$/s.exec(text ?? "") ?? [];
  if (skip === undefined) return { cursor: text ?? null, skip: 0 };
  return { cursor: rest === undefined || rest === "" ? null : rest, skip: Number(skip) };
}

export function cursorAfter({ cursor, skip }: PageStart): (rows: number) => string {
  return (rows) => `skip${String(skip + rows)}~${cursor ?? ""}`;
}
