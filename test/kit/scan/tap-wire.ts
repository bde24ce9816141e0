/**
 * Notes every byte that this process writes to a TCP connection. Who reads it is another process of the same unit, or this one, and
 * notes its answers; so both directions are there, each once. Fetch-like functions in one process are noted where a body is read.
 */
import { Socket } from "node:net";
import type { ScanUnit } from "./unit.ts";

/** As much of a connection is repeated when others wrote in between: what is looked for may stand across two writes. */
const OVERLAP = 512;

interface Internals {
  readonly connecting: boolean;
  readonly _handle: object | null;
  _writeGeneric(isList: boolean, data: unknown, encoding: string, callback: unknown): unknown;
}

export function tapWire(unit: ScanUnit): void {
  const note = openNotes(unit);
  const prototype = Socket.prototype as unknown as Internals;
  const { _writeGeneric } = prototype;
  if (typeof _writeGeneric !== "function") throw new Error("this Node writes to sockets in another way");
  prototype._writeGeneric = function (this: Socket & Internals, isList, data, encoding, callback) {
    // While it connects the write is put off, and comes here again.
    if (!this.connecting && isTcp(this._handle))
      for (const chunk of chunksOf(isList, data, encoding)) note(this, chunk);
    return _writeGeneric.call(this, isList, data, encoding, callback);
  };
  for (const { prototype: body } of [Request, Response]) tapBodies(unit, body);
}

/** Pipes to children and terminals are sockets too. */
function isTcp(handle: object | null): boolean {
  return handle !== null && /^(TCP|TLSWrap)$/.test(handle.constructor.name);
}

function chunksOf(isList: boolean, data: unknown, encoding: string): Uint8Array[] {
  const writes = isList ? (data as readonly { chunk: unknown; encoding: string }[]) : [{ chunk: data, encoding }];
  return writes.map(({ chunk, encoding: written }) =>
    chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk), written as BufferEncoding),
  );
}

/** Marks who speaks whenever that changes. */
function openNotes(unit: ScanUnit): (socket: Socket, bytes: Uint8Array) => void {
  const ends = new WeakMap<Socket, Uint8Array>();
  let last: WeakRef<Socket> | null = null;
  return (socket, bytes) => {
    const end = ends.get(socket);
    if (last?.deref() !== socket) {
      unit.noteSent(Buffer.from(`\n[port ${socket.localPort ?? 0} to port ${socket.remotePort ?? 0}]\n`));
      if (end !== undefined) unit.noteSent(end);
      last = new WeakRef(socket);
    }
    unit.noteSent(bytes);
    const all = end === undefined || bytes.length >= OVERLAP ? bytes : Buffer.concat([end, bytes]);
    ends.set(socket, Uint8Array.from(all.subarray(-OVERLAP)));
  };
}

/** Bodies that did not come over a connection: all of a Request, and a Response that no fetch answered. */
function tapBodies(unit: ScanUnit, prototype: Body): void {
  const { arrayBuffer, bytes, text } = prototype;
  const note = (body: Body, read: Uint8Array): void => {
    const { url } = body as Request;
    if (body instanceof Response && url !== "") return;
    unit.noteSent(Buffer.concat([Buffer.from(`\n[in process ${url}]\n`), read]));
  };
  Object.assign(prototype, {
    async arrayBuffer(this: Body) {
      const read = await arrayBuffer.call(this);
      note(this, new Uint8Array(read));
      return read;
    },
    async bytes(this: Body) {
      const read = await bytes.call(this);
      note(this, read);
      return read;
    },
    async text(this: Body) {
      const read = await text.call(this);
      note(this, Buffer.from(read));
      return read;
    },
    async json(this: Body): Promise<unknown> {
      const read = await text.call(this);
      note(this, Buffer.from(read));
      return JSON.parse(read);
    },
  });
}
