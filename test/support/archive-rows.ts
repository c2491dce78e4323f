import { type Parts, pack, rewrite, type Transfer, uploadArchive } from './archives.ts';
import type { TestServices } from './harness.ts';

/** A row of a table in an archive. */
// biome-ignore lint/suspicious/noExplicitAny: rows of many tables
export type ArchiveRow = Record<string, any>;

const partOf = (table: string): string => `content/${table}.ndjson`;

export const archiveRows = (parts: Parts, table: string): ArchiveRow[] =>
  parts
    .get(partOf(table))!
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((row) => JSON.parse(row));

/** Merges values into rows of a table: undefined leaves a row as it is, null removes it. */
export const changeRows = (
  parts: Parts,
  table: string,
  valuesFor: (row: ArchiveRow, at: number) => object | null | undefined,
): Parts =>
  rewrite(parts, partOf(table), (rows) =>
    rows.flatMap((text, at) => {
      const row = JSON.parse(text);
      const values = valuesFor(row, at);
      if (values === null) return [];
      return values === undefined ? text : JSON.stringify({ ...row, ...values });
    }),
  );

/** Adds rows to a table, each a copy of its first row with other values. */
export const addRows = (parts: Parts, table: string, added: object[]): Parts =>
  rewrite(parts, partOf(table), (rows) => [
    ...rows,
    ...added.map((values) => JSON.stringify({ ...JSON.parse(rows[0]!), ...values })),
  ]);

/** Uploads an archive of these parts as the service itself. */
export const preview = async (t: TestServices, parts: Parts): Promise<Transfer> =>
  await uploadArchive(t.services, await t.ctx(), await pack(parts));
