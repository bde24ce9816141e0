import { once } from "../once.ts";

const table = once(() => import("mime"));

/**
 * The media type that a file's name indicates; undefined when it indicates none. `.ts` is two kinds of file,
 * TypeScript and a video stream, and indicates none. The table is loaded with the first name.
 */
export async function guessContentType(name: string): Promise<string | undefined> {
  if (!/[^/\\]\.\w+$/.test(name) || /\.[mc]?ts$/i.test(name)) return undefined;
  const { default: mime } = await table();
  return mime.getType(name) ?? undefined;
}
