import type { EncodedUpload } from "./upload-codec.ts";
import type { Progress } from "./upload-options.ts";

/** What reports bytes on their way as stored bytes, told to the caller in bytes of content: a cipher adds some. */
export function inContentBytes(
  { contentSize }: Pick<EncodedUpload, "contentSize">,
  report: ((progress: Progress) => void) | undefined,
): ((stored: Pick<Progress, "bytes" | "total">) => void) | undefined {
  if (report === undefined) return undefined;
  return ({ bytes: storedBytes, total: stored }) => {
    const isKnown = contentSize !== null && stored !== null && stored > 0;
    const bytes = isKnown ? Math.floor((storedBytes / stored) * contentSize) : (contentSize ?? storedBytes);
    report({ bytes, total: contentSize ?? stored, storedBytes });
  };
}
