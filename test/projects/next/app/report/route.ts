import { SdkError } from "@coffer/sdk";
import { coffer } from "../../lib/coffer";

/** Stores the request's body as the vault's report. */
export async function POST(request: Request): Promise<Response> {
  const vaultId = new URL(request.url).searchParams.get("vaultId") ?? "";
  const input = { vaultId, name: "report.txt", body: await request.blob() };
  try {
    const { files } = await coffer();
    let sent = 0;
    const { file } = await files.upload(input, { onProgress: ({ bytes }) => (sent = bytes) });
    return Response.json({ id: file.id, sent }, { status: 201 });
  } catch (error) {
    if (error instanceof SdkError && error.code === "name_exists")
      return Response.json({ error: error.message }, { status: 409 });
    throw error;
  }
}

/** Sends a file's content on while it is decrypted. */
export async function GET(request: Request): Promise<Response> {
  const { files } = await coffer();
  const download = await files.download(new URL(request.url).searchParams.get("id") ?? "");
  return new Response(download.stream, { headers: { "Content-Type": "application/octet-stream" } });
}
