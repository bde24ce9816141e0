/** Whole-file transfers with curl. */
import { curl } from "./machine.ts";
import type { Service } from "./service.ts";

/** No `Expect: 100-continue`, and no read-ahead into memory: the file streams. */
export const STREAMED = ["--request", "POST", "-H", "Expect:", "-H", "content-type: application/octet-stream"] as const;

/** Stores a file; answers where its content is and the key that reads it. */
export async function uploadFile(service: Service, path: string, name: string): Promise<{ key: string; url: string }> {
  const key = service.keys[0] ?? "";
  await curl("upload", 201, [
    ...STREAMED,
    "-H",
    `authorization: Bearer ${key}`,
    "--upload-file",
    path,
    `${service.baseUrl}/api/files?name=${name}`,
  ]);
  return { key, url: await contentOf(service, name) };
}

/** Where the content of the file with that name is. */
export async function contentOf({ baseUrl, keys }: Service, name: string): Promise<string> {
  const headers = { authorization: `Bearer ${keys[0] ?? ""}` };
  const listed = await fetch(`${baseUrl}/api/files?name=${name}`, { headers });
  const { files } = (await listed.json()) as { files: { id: string }[] };
  return `${baseUrl}/api/files/${files[0]?.id ?? ""}/content`;
}
