import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { collect } from "../../../../../test/kit/bytes.ts";
import { ServiceError } from "../../../service-error.ts";
import { bodyOf, codeOf } from "../../service.test-kit.ts";
import { isForm, openForm } from "./form.ts";

const TYPE = "multipart/form-data; boundary=frontier";

interface Part {
  readonly name: string;
  readonly fileName?: string;
  readonly type?: string;
  readonly content: string | Buffer;
}

function form(parts: readonly Part[], end = "--frontier--\r\n"): Buffer {
  const rendered = parts.map(({ name, fileName, type, content }) =>
    Buffer.concat([
      Buffer.from(`--frontier\r\nContent-Disposition: form-data; name="${name}"`),
      Buffer.from(fileName === undefined ? "" : `; filename="${fileName}"`),
      Buffer.from(type === undefined ? "\r\n\r\n" : `\r\nContent-Type: ${type}\r\n\r\n`),
      Buffer.from(content as Buffer),
      Buffer.from("\r\n"),
    ]),
  );
  return Buffer.concat([...rendered, Buffer.from(end)]);
}

async function open(bytes: Buffer, chunk = 7) {
  const part = await openForm(TYPE, bodyOf(bytes, { chunk }).stream);
  return { name: part.name, contentType: part.contentType, bytes: await collect(part.stream) };
}

test("[D5-upload-multipart] one file comes out byte for byte, whatever the pieces it arrives in", async () => {
  const content = Buffer.concat([
    Buffer.from("\r\n--frontie\r\n--"),
    Buffer.from(Array.from({ length: 9000 }, (_, index) => index % 256)),
  ]);
  const bytes = form([{ name: "file", fileName: "päper.pdf", type: "application/pdf", content }]);
  for (const chunk of [1, 7, 1024, bytes.length]) {
    const part = await open(bytes, chunk);
    expect(part).toMatchObject({ name: "päper.pdf", contentType: "application/pdf" });
    expect(part.bytes.equals(content)).toBe(true);
  }
});

test("a path in the file name is cut, an impossible one is none", async () => {
  const named = (fileName: string) => open(form([{ name: "file", fileName, type: "text/plain", content: "x" }]));
  expect((await named("C:\\\\Users\\\\me\\\\a.txt")).name).toBe("a.txt");
  expect((await named("../../etc/passwd")).name).toBe("passwd");
  expect((await named("..")).name).toBeNull();
  expect((await named("C1 \u0085.txt")).name).toBeNull();
});

test("a file name that is not UTF-8 is none", async () => {
  const bytes = form([{ name: "file", fileName: "caf_.txt", type: "text/plain", content: "x" }]);
  bytes[bytes.indexOf("_.txt")] = 0xe9;
  expect((await open(bytes)).name).toBeNull();
});

test("a form with a field beside its file is refused, wherever the field stands: it may say where the file goes", async () => {
  const file = { name: "file", fileName: "a", type: "text/plain", content: "x".repeat(500) };
  for (const name of ["vaultId", "folderId", "name", "note", "__proto__"]) {
    const field = { name, content: "x" };
    for (const parts of [
      [field, file],
      [file, field],
      [file, field, field, field, field],
    ]) {
      for (const chunk of [7, 100_000]) expect(await codeOf(open(form(parts), chunk))).toBe("validation_failed");
    }
  }
});

test("a part that is no field of a form is refused beside a file, too: it may name a vault", async () => {
  const file = form([{ name: "file", fileName: "a", type: "text/plain", content: "x".repeat(500) }], "");
  const heads = [
    "X-Other: a",
    'Content-Disposition: attachment; name="vaultId"',
    'Content-Disposition: attachment\r\nContent-Disposition: form-data; name="vaultId"',
    'Content-Disposition : form-data; name="vaultId"',
    `X-Long: ${"a".repeat(20_000)}\r\nContent-Disposition: form-data; name="vaultId"`,
    'Content-Disposition: form-data; name="vault\nId"',
  ];
  const end = Buffer.from("--frontier--\r\n");
  for (const head of heads) {
    const part = Buffer.from(`--frontier\r\n${head}\r\n\r\nx\r\n`);
    for (const parts of [
      [part, file],
      [file, part],
    ]) {
      for (const chunk of [7, 100_000])
        expect(await codeOf(open(Buffer.concat([...parts, end]), chunk)), head.slice(0, 60)).toBe("validation_failed");
    }
  }
});

test("no file, two files, and forms that end early are refused", async () => {
  const file = { name: "file", fileName: "a", type: "text/plain", content: "x".repeat(500) };
  expect(await codeOf(open(form([{ name: "note", content: "x" }])))).toBe("validation_failed");
  expect(await codeOf(open(form([file, { ...file, fileName: "b" }])))).toBe("validation_failed");
  expect(await codeOf(open(form([file, { ...file, fileName: "b" }]), 100_000))).toBe("validation_failed");
  expect(await codeOf(open(form([file], "")))).toBe("validation_failed");
  expect(await codeOf(open(form([file]).subarray(0, 200)))).toBe("validation_failed");
  expect(await codeOf(open(Buffer.from("not a form")))).toBe("validation_failed");
  expect(await codeOf(open(Buffer.alloc(0)))).toBe("validation_failed");
  expect(await codeOf(openForm("multipart/form-data", bodyOf("x").stream))).toBe("validation_failed");
});

test("a sender that fails is told from a malformed form", async () => {
  const bytes = form([{ name: "file", fileName: "a", type: "text/plain", content: "x".repeat(500) }]);
  for (const at of [10, 300]) {
    const source = (async function* () {
      yield await Promise.resolve(bytes.subarray(0, at));
      throw new ServiceError("request_timeout");
    })();
    const reading = openForm(TYPE, source).then((part) => collect(part.stream));
    expect(await codeOf(reading), `at ${at}`).toBe("request_timeout");
  }
});

test("a reader that stops early ends the source", async () => {
  const bytes = form([{ name: "file", fileName: "a", type: "text/plain", content: "x".repeat(5_000_000) }]);
  let ended = false;
  const source = (async function* () {
    try {
      yield* bodyOf(bytes, { chunk: 1000 }).stream;
    } finally {
      ended = true;
    }
  })();
  const part = await openForm(TYPE, source);
  const reader = part.stream[Symbol.asyncIterator]();
  expect((await reader.next()).done).toBe(false);
  await reader.return?.();
  await setImmediate();
  expect(ended).toBe(true);
});

test("only multipart/form-data is a form", () => {
  expect(["multipart/form-data; boundary=x", "Multipart/Form-Data;boundary=x"].every(isForm)).toBe(true);
  expect([null, "application/json", "multipart/mixed; boundary=x", "text/multipart/form-data"].some(isForm)).toBe(
    false,
  );
});
