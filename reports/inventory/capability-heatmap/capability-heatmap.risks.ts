import type { Sql } from '../../../platform/database.ts';
import { ID, IdNumbers } from '../../kernel/report.ids.ts';
import { type Lists, listsOf } from '../../kernel/report.links.ts';
import type { NumberedLines } from '../../kernel/report.numbered.ts';

const PAIR = 2 * ID.bytes;

/** The links of risks that are not closed, as bytes: the id of each card, and of its risk right behind it. */
export async function readRiskLinks(sql: Sql): Promise<Buffer> {
  const { rows } = await sql.raw(
    `select string_agg(uuid_send(k.card_id) || uuid_send(k.risk_id), ''::bytea order by k.card_id, k.risk_id) as pairs
     from risk_cards k join risks r on r.id = k.risk_id where r.status <> 'closed'`,
  );
  return rows[0].pairs ?? Buffer.alloc(0);
}

/** How many risks concern each capability, or an application that supports it; each counts once. */
export function countRisks(
  pairs: Buffer,
  capabilities: NumberedLines,
  apps: NumberedLines,
  { starts, items }: Lists,
): Int32Array {
  const risks = new IdNumbers(pairs.length / PAIR);
  const owned = [{ pairs, owner: 0, other: ID.bytes }];
  const numbered = (bytes: Buffer, at: number) => risks.add(bytes, at);
  const ofCapabilities = listsOf(capabilities.numbers, risks, owned, numbered);
  const ofApps = listsOf(apps.numbers, risks, owned, numbered);
  const counts = new Int32Array(capabilities.numbers.count);
  // the capability that has counted each last, from 1
  const seen = new Int32Array(risks.count);
  const count = (lists: Lists, owner: number, capability: number) => {
    for (let n = lists.starts[owner]!; n < lists.starts[owner + 1]!; n += 1) {
      const risk = lists.items[n]!;
      if (seen[risk] === capability + 1) continue;
      seen[risk] = capability + 1;
      counts[capability]! += 1;
    }
  };
  for (let capability = 0; capability < counts.length; capability += 1) {
    count(ofCapabilities, capability, capability);
    for (let n = starts[capability]!; n < starts[capability + 1]!; n += 1)
      count(ofApps, items[n]!, capability);
  }
  return counts;
}
