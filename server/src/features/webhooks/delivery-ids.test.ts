import { expect, it } from "vitest";
import * as z from "zod/mini";
import { systemRandom } from "../../ports/random.ts";
import { mintDeliveryId } from "./delivery-ids.ts";

const NOW = Date.UTC(2026, 10, 20);

it("is a UUID of version 7 that holds the time", () => {
  const id = mintDeliveryId(NOW, 7, systemRandom);
  expect(z.safeParse(z.uuidv7(), id).success).toBe(true);
  expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(NOW);
  expect(mintDeliveryId(-1, 0, systemRandom).startsWith("00000000-0000-7000-")).toBe(true);
});

it("sorts by time, then by the event's number, and repeats nowhere", () => {
  const ids = [0, 1, 2].flatMap((later) =>
    Array.from({ length: 4096 }, (_, sequence) => mintDeliveryId(NOW + later, sequence, systemRandom)),
  );
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(Array.from({ length: 1000 }, () => mintDeliveryId(NOW, 1, systemRandom))).size).toBe(1000);
});
