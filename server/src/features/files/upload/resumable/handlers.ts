/** Resumable uploads over HTTP: tus 1.0.0 (decisions §5). */
import { type api, TUS_CHECKSUMS, TUS_EXTENSIONS, TUS_VERSION } from "@coffer/contract";
import { type GroupHandlers, type Principal, Reply, type RequestContext } from "../../../../handler.ts";
import { openLeases } from "../../../../ports/leases.ts";
import type { UploadRow } from "../../../../ports/tables.ts";
import type { UploadDeps } from "../verifier.ts";
import { readLiveUpload } from "./access.ts";
import { appendPart, readOffset } from "./append.ts";
import { parseChecksum } from "./checksum.ts";
import { createUpload } from "./create.ts";
import { finish } from "./finish.ts";
import { withUpload, type WritingDeps } from "./lease.ts";
import { isWhole, type Progress, speakTus, statusHeaders, uploadHeaders } from "./rules.ts";
import { giveUp } from "./terminate.ts";

export const uploadsHandlers = (uploading: UploadDeps): GroupHandlers<typeof api.uploads> => {
  const deps: WritingDeps = { ...uploading, leases: openLeases(uploading) };
  return {
    options: () => Promise.resolve(new Reply(undefined, { headers: describeServer(deps) })),
    create: (input, context) => speakTus(input.headers["tus-resumable"], () => createUpload(deps, input, context)),
    head: ({ params, headers }, context) =>
      speakTus(headers["tus-resumable"], async () => {
        const upload = await readLiveUpload(deps, context.principal, params.uploadId);
        const progress = await readProgress(deps, context, upload);
        return new Reply(undefined, { headers: statusHeaders(upload, progress) });
      }),
    append: ({ params, headers, body }, context) =>
      speakTus(headers["tus-resumable"], async () => {
        const checksum = parseChecksum(headers["upload-checksum"]);
        const id = params.uploadId;
        const find = () => readLiveUpload(deps, context.principal, id);
        // Refuses strangers before a row of leases is written for them.
        await find();
        const part = { offset: headers["upload-offset"], body, checksum };
        return withUpload(deps, { id, find }, async (upload, lease) => {
          const progress = await appendPart(deps, context, { upload, lease }, part);
          return new Reply(undefined, { headers: uploadHeaders(upload, progress) });
        });
      }),
    terminate: ({ params, headers }, { principal }) =>
      speakTus(headers["tus-resumable"], async () => {
        const id = params.uploadId;
        const find = () => readLiveUpload(deps, principal, id);
        await find();
        await withUpload(deps, { id, find }, (upload, lease) => giveUp(deps, upload, lease));
        return new Reply(undefined, { headers: { "Tus-Resumable": TUS_VERSION } });
      }),
  };
};

function describeServer({ settings }: UploadDeps): Record<string, string> {
  return {
    "Tus-Resumable": TUS_VERSION,
    "Tus-Version": TUS_VERSION,
    "Tus-Extension": TUS_EXTENSIONS.join(","),
    "Tus-Checksum-Algorithm": TUS_CHECKSUMS.join(","),
    "Tus-Max-Size": String(settings.limits.resumableUploadBytes),
  };
}

/**
 * A client that reads an offset equal to the length takes the upload for done, so the answer says that only once the
 * file exists, or the bytes of a held upload are noted as whole. All bytes may be there without that (a kill in between,
 * a name that was taken). Those get another try here.
 */
async function readProgress(
  deps: WritingDeps,
  context: RequestContext<Principal>,
  upload: UploadRow,
): Promise<Progress> {
  if (isWhole(upload)) return { offset: upload.length, fileId: upload.finished_file_id };
  const offset = await readOffset(deps.blobs, upload);
  if (offset < upload.length) return { offset, fileId: null };
  const find = () => readLiveUpload(deps, context.principal, upload.id);
  const fileId = await withUpload(deps, { id: upload.id, find }, (found, lease) =>
    finish(deps, context, { upload: found, lease }),
  );
  return { offset, fileId };
}
