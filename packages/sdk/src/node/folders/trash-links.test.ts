/** No link leads a removal or a restore out of the tree or the trash. */
import { renameSync, symlinkSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Middleware } from "../../http/transports.ts";
import { restoreRemoved, syncFolder } from "./index.ts";
import { codes, FALSE_DEEP, fill, hiding, MANY, mirrored, read, robbed, WITHOUT_DEEP } from "./tree.test-kit.ts";

describe("links in the tree and in the trash [S35]", () => {
  it("lead no removal anywhere: a folder of the tree becomes one after it was looked at [S35]", async () => {
    const { base, client, connect, copy, down, idOf } = await mirrored();
    const outside = join(base, "outside");
    await fill(outside, { "e.txt": "five", "er/f.txt": "six" });
    const all = FALSE_DEEP.map(idOf);
    await client.files.replace(idOf("b.txt"), { body: "newer" });
    const swap: Middleware = async (request, next) => {
      if (request.url.endsWith("/content")) {
        await rename(join(copy, "deep"), join(base, "aside"));
        await symlink(outside, join(copy, "deep"));
      }
      return next(request);
    };
    const result = await syncFolder(connect({ middleware: [swap, hiding(all, all)] }), copy, down);
    expect(codes(result)).toMatchObject({ "deep/e.txt": "ENOTDIR", "deep/er/f.txt": "ENOENT" });
    expect([await read(outside), await read(join(base, "aside"))]).toEqual([
      { "e.txt": "five", "er/f.txt": "six" },
      { "e.txt": "five", "er/f.txt": "six" },
    ]);
  });

  it.each(["the trash", "the call's directory in it"])("take no file out: %s becomes one", async (which) => {
    const { base, client, connect, copy, down, idOf } = await mirrored();
    const [outside, trash] = [join(base, "outside"), join(base, ".coffer-trash")];
    await mkdir(outside);
    await client.files.trashMany([idOf("a.txt")]);
    await client.files.replace(idOf("b.txt"), { body: "newer" });
    const swap: Middleware = async (request, next) => {
      if (request.url.endsWith("/content")) {
        const place = which === "the trash" ? trash : join(trash, (await readdir(trash))[0] ?? "");
        await rename(place, join(base, "aside"));
        await symlink(outside, place);
      }
      return next(request);
    };
    const result = await syncFolder(connect({ middleware: [swap] }), copy, down);
    expect(codes(result)).toEqual({ "a.txt": "ENOENT", "b.txt": "ENOENT" });
    expect([await read(copy), await read(outside)]).toEqual([MANY, {}]);
  });

  it("lead no restore out of the tree, nor into it from elsewhere", async () => {
    const { base, copy, run } = await robbed();
    const outside = join(base, "outside");
    await mkdir(outside);
    await symlink(outside, join(copy, "deep"));
    expect(codes(await restoreRemoved(copy))).toMatchObject({ "deep/e.txt": "ENOTDIR" });
    expect(await readdir(outside)).toEqual([]);
    await rm(join(copy, "deep"));
    // Between the look and the rename, the tree's folder becomes a link.
    const signal = {
      get aborted() {
        renameSync(join(copy, "deep"), join(base, "aside"));
        symlinkSync(outside, join(copy, "deep"));
        return false;
      },
    } as AbortSignal;
    await restoreRemoved(copy, { signal }).catch(() => undefined);
    expect(await readdir(outside)).toEqual([]);
    await rm(join(copy, "deep"));
    await rename(run, join(base, "elsewhere"));
    await symlink(join(base, "elsewhere"), run);
    expect(await restoreRemoved(copy)).toMatchObject({ files: [], folders: [], failed: [] });
    await rm(run);
    await rename(join(base, ".coffer-trash"), join(base, "trash elsewhere"));
    await rename(join(base, "elsewhere"), join(base, "trash elsewhere", basename(run)));
    await symlink(join(base, "trash elsewhere"), join(base, ".coffer-trash"));
    expect(await restoreRemoved(copy)).toMatchObject({ files: [], folders: [], failed: [] });
    expect(await read(copy)).toEqual(WITHOUT_DEEP);
  });

  it.each(["../out", "/out", "deep//out", ".", "deep/../../out", "nul\0", ".coffer-trash/x"])(
    "and written paths lead nowhere else either: %j",
    async (path) => {
      const { base, copy, run } = await robbed();
      const before = await readdir(base);
      const written = await readFile(join(run, "contents.json"), "utf8");
      await writeFile(join(run, "contents.json"), written.replace(`"deep/e.txt"`, JSON.stringify(path)));
      expect((await restoreRemoved(copy)).files).toEqual([]);
      expect([await readdir(base), await read(copy)]).toEqual([before, WITHOUT_DEEP]);
    },
  );
});
