/** A place in the run's Ceph for one test. */
import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import { skipWithout } from "../engines.ts";
import { type CephAddress, createBucket, whyNoCeph } from "@coffer/devstack/engines";

const BUCKET = "coffer-tests";
let ready: Promise<CephAddress> | null = null;

export interface CephStore extends CephAddress {
  readonly bucket: string;
  /** Of this test alone; ends in a slash. */
  readonly prefix: string;
}

/** For `beforeEach` of tests that need Ceph. Where it is required, they run and fail. */
export function skipWithoutCeph(context: { skip(reason: string): void }): void {
  skipWithout(whyNoCeph(), context);
}

let given = 0;

/** How many there were of this process. */
export const placesGiven = (): number => given;

/** A new place, or the one with that prefix. The first one of a run waits until Ceph has started. */
export async function cephStore(prefix?: string): Promise<CephStore> {
  if (prefix === undefined) given += 1;
  return { ...(await (ready ??= findCeph())), bucket: BUCKET, prefix: prefix ?? `${randomUUID()}/` };
}

async function findCeph(): Promise<CephAddress> {
  const answer = await fetch(inject("cephDoor"));
  if (!answer.ok) throw new Error(await answer.text());
  const address = (await answer.json()) as CephAddress;
  await createBucket(address, BUCKET);
  return address;
}
