import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The slowest files first, by the beginning of their paths. On a fresh clone vitest has no earlier runs, and begins
 * with the largest files. These are small and start whole servers, and the last of them would run alone at the end.
 * Some of them mostly wait: they come while the journeys work, and not two at a time at the end.
 */
const SLOWEST = [
  "packages/mcp/src/interop.test.ts",
  "test/journeys/journeys-stack.test.ts",
  "test/crash/webhooks.test.ts",
  "test/crash/retried-keys.test.ts",
  "test/crash/postgres.test.ts",
  "test/security/attack/",
  "test/start.test.ts",
  "test/journeys/programs",
  "test/engines/",
  "test/browser/",
  "test/any-answer/",
  "test/signers/",
  "test/mcp/",
  "test/shared-vaults/",
  "test/security/threats/",
  "test/shared-files/",
  "test/",
];

/**
 * One project after the other, and of each the slowest test files first, so that all workers end at about the same time. Vitest ends a
 * process that files share as soon as the next file is of another project, and the one after it loads everything again.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const rank = ({ moduleId }: TestSpecification): number => {
      const path = moduleId.slice(root.length + 1);
      const found = SLOWEST.findIndex((start) => path.startsWith(start));
      return found === -1 ? SLOWEST.length : found;
    };
    // A stable sort: among equals vitest's own order stays.
    const sorted = (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
    return Object.values(Object.groupBy(sorted, ({ project }) => project.name))
      .flatMap((of) => of ?? [])
      .toSorted((a, b) => Number(b.project.config.isolate) - Number(a.project.config.isolate));
  }
}
