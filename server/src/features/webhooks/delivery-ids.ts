import type { Random } from "../../ports/random.ts";

/**
 * RFC 9562 §5.7, version 7: milliseconds since the Unix epoch, then chance. Deliveries are many, and each is written
 * several times. With ids in the order of time, rows written together are together in the indexes (RFC 9562 §2.1).
 * Random ones touch a page for every row. Ids of one millisecond are in the order of their events (RFC 9562 §6.2,
 * method 1).
 */
export function mintDeliveryId(now: number, sequence: number, random: Pick<Random, "uuid">): string {
  const time = Math.max(0, now).toString(16).padStart(12, "0");
  const counter = (sequence % 0x1000).toString(16).padStart(3, "0");
  // The variant of version 4, and the chance beside it, fit as they are.
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${counter}${random.uuid().slice(18)}`;
}
