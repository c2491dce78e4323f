import type { MappingRow } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { Connector, RemoteColumn } from '../connectors/connector.ts';

import { columnOf, type RemoteProblem } from './mapping.remote.ts';

/** Longer lines of tables that extend each other there are not. */
const DEPTH = 20;

/**
 * Checks that reference columns lead to the table of the mapping whose cards they mean, to one that it extends, or to one
 * that extends it. @param tables of the connection's mappings, by id.
 */
export async function referenceProblems(
  remote: Pick<Connector, 'describeTables'>,
  { id, fields }: Pick<MappingRow, 'id' | 'fields'>,
  columns: readonly RemoteColumn[],
  tables: ReadonlyMap<string, string>,
): Promise<RemoteProblem[]> {
  const problems: RemoteProblem[] = [];
  const lines = new Map<string, string[]>();
  const lineOf = async (table: string): Promise<string[]> => {
    const known = lines.get(table);
    if (known) return known;
    const line = [table];
    while (line.length < DEPTH) {
      const name = line.at(-1)!;
      const found = await remote.describeTables(name);
      const parent = found.find((one) => one.name === name)?.parent;
      if (parent === undefined || parent === null) break;
      line.push(parent);
    }
    lines.set(table, line);
    return line;
  };
  for (const [index, row] of fields.entries()) {
    if (row.transform_type !== 'reference') continue;
    const led = columnOf(columns, row.remote_field)?.reference;
    const meant = tables.get(row.transform_config.mapping_id ?? id);
    // where a column leads to, not every remote tells
    if (!led || meant === undefined || led === meant) continue;
    const above = await lineOf(led);
    const below = await lineOf(meant);
    if (above.includes(meant) || below.includes(led)) continue;
    problems.push({
      level: 'error',
      field: `field_mappings.${index}.transform_config.mapping_id`,
      code: 'wrong_table',
      message: `the column leads to ${led}, and the mapping is of ${meant}`,
    });
  }
  return problems;
}
