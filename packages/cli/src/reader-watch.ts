/**
 * Whether somebody still reads a pipe or socket that nothing is written to. A look is poll(2) by way of WASI: nothing else in
 * Node asks the system for the state of a descriptor.
 */

import type * as Wasi from "node:wasi";

/** The layout of `subscription` and `event` of WASI preview 1. */
const SUBSCRIPTIONS = 0;
const SUBSCRIPTION_BYTES = 48;
const EVENTS = 256;
const EVENT_BYTES = 32;
const COUNT = 512;
const ON_CLOCK = { at: SUBSCRIPTIONS, id: 1n, kind: 0 } as const;
const ON_ROOM = { at: SUBSCRIPTIONS + SUBSCRIPTION_BYTES, id: 2n, kind: 2 } as const;
const MONOTONIC = 1;
const LOOK_NANOSECONDS = 1_000_000n;
const HANGUP = 1;

const EVERY_MS = 1_000;

type Look = "read" | "gone" | "unknown";

/** Calls `act` once when nobody reads the descriptor any more. It looks each second, and never again where the system does not tell. */
export function watchReader(descriptor: number, act: () => void): () => void {
  const look = openLook(descriptor);
  const timer = setInterval(() => {
    const found = look();
    if (found === "read") return;
    clearInterval(timer);
    if (found === "gone") act();
  }, EVERY_MS);
  return () => clearInterval(timer);
}

function openLook(descriptor: number): () => Look {
  try {
    const wasi = new (loadWasi().WASI)({ version: "preview1", stdout: descriptor });
    const memory = new WebAssembly.Memory({ initial: 1 });
    // It has no program: its calls are made from here.
    wasi.initialize({ exports: { memory } });
    const poll = wasi.wasiImport["poll_oneoff"] as (...args: readonly number[]) => number;
    const view = new DataView(memory.buffer);
    return () => {
      ask(view);
      const isKnown = poll(SUBSCRIPTIONS, EVENTS, 2, COUNT) === 0;
      return isKnown ? answerIn(view) : "unknown";
    };
  } catch {
    return () => "unknown";
  }
}

/** Node warns that it is experimental: nobody who runs a command can do anything about that. */
function loadWasi(): typeof Wasi {
  const warn = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule("node:wasi");
  } finally {
    process.emitWarning = warn;
  }
}

/** For room in standard output, and not for longer than a millisecond: a slow reader leaves none. */
function ask(view: DataView): void {
  for (const { at, id, kind } of [ON_CLOCK, ON_ROOM]) {
    view.setBigUint64(at, id, true);
    view.setUint8(at + 8, kind);
  }
  view.setUint32(ON_CLOCK.at + 16, MONOTONIC, true);
  view.setBigUint64(ON_CLOCK.at + 24, LOOK_NANOSECONDS, true);
  view.setUint32(ON_ROOM.at + 16, 1, true);
}

/** Without a reader, a pipe of Linux is an error; sockets, and pipes elsewhere, are hung up. */
function answerIn(view: DataView): Look {
  const count = view.getUint32(COUNT, true);
  for (let at = EVENTS; at < EVENTS + count * EVENT_BYTES; at += EVENT_BYTES) {
    const isRoom = view.getBigUint64(at, true) === ON_ROOM.id;
    const isGone = view.getUint16(at + 8, true) !== 0 || (view.getUint16(at + 24, true) & HANGUP) !== 0;
    if (isRoom && isGone) return "gone";
  }
  return "read";
}
