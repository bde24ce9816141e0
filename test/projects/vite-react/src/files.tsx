import { useCallback, useEffect, useState } from "react";
import { SdkError, type Client, type File as StoredFile, type Progress } from "@coffer/sdk";

/** The files of a vault: uploads one with its progress, and shows the text of another. */
export function Files({ client, vaultId }: { client: Client; vaultId: string }) {
  const [files, setFiles] = useState<StoredFile[]>([]);
  const [progress, setProgress] = useState<Progress>();
  const [message, setMessage] = useState("");
  const [text, setText] = useState("");

  const list = useCallback(async () => {
    const found: StoredFile[] = [];
    for await (const file of client.files.list({ vaultId })) found.push(file);
    setFiles(found);
  }, [client, vaultId]);

  /** Does it, and says why if it fails. */
  const attempt = useCallback(async (act: () => Promise<void>) => {
    try {
      setMessage("");
      await act();
    } catch (error) {
      if (!(error instanceof SdkError)) throw error;
      if (error.code === "name_exists") setMessage("A file of this name is there already.");
      else setMessage(`${error.message}. ${error.nextStep}`);
    }
  }, []);

  useEffect(() => void attempt(list), [attempt, list]);

  const upload = async (body: File) => {
    await client.files.upload({ vaultId, name: body.name, body }, { onProgress: setProgress });
    await list();
  };
  const show = async (file: StoredFile) => setText(await (await client.files.download(file.id)).text());

  return (
    <section>
      <input
        type="file"
        onChange={({ target }) => {
          const [chosen] = target.files ?? [];
          if (chosen !== undefined) void attempt(() => upload(chosen));
        }}
      />
      <progress value={progress?.bytes ?? 0} max={progress?.total ?? undefined} />
      <p role="alert">{message}</p>
      <ul>
        {files.map((file) => (
          <li key={file.id}>
            <button onClick={() => void attempt(() => show(file))}>{file.name}</button>
          </li>
        ))}
      </ul>
      <pre>{text}</pre>
    </section>
  );
}
