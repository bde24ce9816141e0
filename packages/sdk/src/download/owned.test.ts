import { expect, it } from "vitest";
import type { Middleware, Transport } from "../transports.ts";
import { freeingOf } from "./owned.ts";

it("frees pieces beside middleware only if each leaves bodies alone", () => {
  const free = (): void => undefined;
  const transport: Transport = Object.assign(() => Promise.resolve(new Response()), { free });
  const keeping: Middleware = (request, next) => next(request);
  const leaving: Middleware = Object.assign<Middleware, object>((request, next) => next(request), {
    leavesBodies: true,
  });
  const freed = (...middleware: Middleware[]): boolean => freeingOf({ middleware, transport }) === free;
  expect([freed(), freed(leaving), freed(leaving, keeping), freed(keeping)]).toEqual([true, true, false, false]);
});
