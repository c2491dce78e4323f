import { createHash } from 'node:crypto';
import type { ComparedField } from '../../domain/analysis/duplicates/duplicates.fields.ts';
import { factsOf, recordsOf } from '../../domain/analysis/duplicates/duplicates.records.ts';
import type { DecisionRow } from '../../domain/analysis/duplicates/duplicates.types.ts';
import type { Metamodel } from '../../domain/kernel/metamodel/metamodel.compile.ts';
import type { Sql } from '../../platform/database.ts';
import type { Decision } from '../matching/matching.types.ts';

/** What people decided of pairs of a type, as it stands by what the cards say now. */
export interface Decided {
  /** Both cards say what they said then. */
  holding: DecisionRow[];
  /** One of them says something else. */
  lapsed: string[];
}

const AT_ONCE = 2_000;

/** Reads the decisions about a type, and looks which of them hold. Those of cards that are gone are neither. */
export async function decidedPairs(
  sql: Sql,
  metamodel: Metamodel,
  type: string,
  fields: readonly ComparedField[],
): Promise<Decided> {
  const rows: DecisionRow[] = await sql('duplicate_decisions')
    .where({ card_type: type })
    .orderBy('id')
    .select('id', 'card_type', 'left_id', 'right_id', 'decision', 'left_facts', 'right_facts');
  const ids = [...new Set(rows.flatMap(({ left_id, right_id }) => [left_id, right_id]))];
  const facts = new Map<string, string>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = await recordsOf(sql, metamodel, type, fields, ids.slice(from, from + AT_ONCE));
    for (const record of some) facts.set(record.id, factsOf(record, fields));
  }
  const decided: Decided = { holding: [], lapsed: [] };
  for (const row of rows) {
    const [left, right] = [facts.get(row.left_id), facts.get(row.right_id)];
    if (left === undefined || right === undefined) continue;
    if (left === row.left_facts && right === row.right_facts) decided.holding.push(row);
    else decided.lapsed.push(row.id);
  }
  return decided;
}

/** Decisions as a model learns from them; who looks into a pair has not said anything yet. */
export const lessons = ({ holding }: Decided): Decision[] =>
  holding
    .filter(({ decision }) => decision !== 'investigating')
    .map(({ left_id, right_id, decision }) => ({
      left: left_id,
      right: right_id,
      same: decision === 'confirmed',
    }));

/** A fingerprint of what stands decided. */
export function versionOf({ holding, lapsed }: Decided): string {
  const hash = createHash('sha256');
  for (const { id, decision } of holding) hash.update(`${id} ${decision}\n`);
  for (const id of lapsed) hash.update(`${id}\n`);
  return hash.digest('base64url').slice(0, 22);
}
