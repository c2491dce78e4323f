import { ID } from './report.ids.ts';
import { eachLine } from './report.lines.ts';

/** Bytes of a row before its group's id, and before its other members. */
const GROUP_FROM = '{"group_id":"'.length;
const MEMBERS_FROM = GROUP_FROM + ID.text + '",'.length;

/**
 * The rows of each group as pieces of a JSON array, by the group's id.
 * @param rows lines whose first member is `group_id`, which the pieces omit.
 */
export function rowsByGroup(rows: Buffer): Map<string, (string | Buffer)[]> {
  const groups = new Map<string, (string | Buffer)[]>();
  eachLine(rows, (from, to) => {
    const group = rows.toString('latin1', from + GROUP_FROM, from + GROUP_FROM + ID.text);
    const pieces = groups.get(group) ?? [];
    if (pieces.length === 0) groups.set(group, pieces);
    pieces.push(pieces.length === 0 ? '\n{' : ',\n{', rows.subarray(from + MEMBERS_FROM, to));
  });
  return groups;
}
