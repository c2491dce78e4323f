/** Files that take longest, the longest first: begun last, one of them would keep one core waiting for the other. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';
import longest from './longest-first.files.json' with { type: 'json' };

/** Begins the files that take longest before all others. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification) => {
      const at = longest.findIndex((file) => moduleId.endsWith(`/test/${file}`));
      const known = at >= 0 ? at : longest.length;
      // those that share a process follow each other: one of its own in between would end that, and a new one begin
      return project.config.isolate ? known : longest.length + 1 + known;
    };
    return (await super.sort(files))
      .map((file, n) => ({ file, n, at: place(file) }))
      .sort((a, b) => a.at - b.at || a.n - b.n)
      .map(({ file }) => file);
  }
}
