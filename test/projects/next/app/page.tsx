import { coffer } from "../lib/coffer";

/** Made for each request, and not when the project is built. */
export const dynamic = "force-dynamic";

/** A server component: what the vault holds is decrypted in this process. */
export default async function Page({ searchParams }: { searchParams: Promise<{ vaultId: string }> }) {
  const { vaultId } = await searchParams;
  const { files } = await coffer();
  const listed = await files.list({ vaultId });
  const texts = await Promise.all(listed.items.map(async ({ id }) => (await files.download(id)).text()));
  return (
    <ul>
      {listed.items.map(({ id, name }, index) => (
        <li key={id}>
          {name}: {texts[index]}
        </li>
      ))}
    </ul>
  );
}
