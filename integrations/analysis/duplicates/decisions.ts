import { createHash } from 'node:crypto';
import type { ComparedField } from '../../../domain/analysis/duplicates/duplicates.fields.ts';
import type { DecisionRow } from '../../../domain/analysis/duplicates/duplicates.model.ts';
import { factsOf, recordsOf } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { Sql } from '../../../platform/database.ts';
import type { Decision } from '../matching/matching.types.ts';

/** A decision about a pair, with the hashes of the values on which it was made. */
export type PairFacts = Pick<
  DecisionRow,
  'id' | 'card_type' | 'left_id' | 'right_id' | 'decision' | 'left_facts' | 'right_facts'
>;

/** The decisions about pairs of one card type. */
export interface Decided {
  /** Valid decisions: the compared values of both cards have not changed. */
  valid: PairFacts[];
  /** Ids of decisions for which the compared values of a card have changed. */
  lapsed: string[];
}

const BATCH = 2_000;

/** Reads the decisions about a type, without those of archived and deleted cards. */
export async function decidedPairs(
  sql: Sql,
  metamodel: Metamodel,
  type: string,
  fields: readonly ComparedField[],
): Promise<Decided> {
  const rows: PairFacts[] = await sql('duplicate_decisions')
    .where({ card_type: type })
    .orderBy('id')
    .select('id', 'card_type', 'left_id', 'right_id', 'decision', 'left_facts', 'right_facts');
  const ids = [...new Set(rows.flatMap(({ left_id, right_id }) => [left_id, right_id]))];
  const facts = new Map<string, string>();
  for (let from = 0; from < ids.length; from += BATCH) {
    const some = await recordsOf(sql, metamodel, type, fields, ids.slice(from, from + BATCH));
    for (const record of some) facts.set(record.id, factsOf(record, fields));
  }
  const decided: Decided = { valid: [], lapsed: [] };
  for (const row of rows) {
    const [left, right] = [facts.get(row.left_id), facts.get(row.right_id)];
    if (left === undefined || right === undefined) continue;
    if (left === row.left_facts && right === row.right_facts) decided.valid.push(row);
    else decided.lapsed.push(row.id);
  }
  return decided;
}

/** Decisions that a model learns from; pairs under review are not decided. */
export const trainingDecisions = ({ valid }: Decided): Decision[] =>
  valid
    .filter(({ decision }) => decision !== 'investigating')
    .map(({ left_id, right_id, decision }) => ({
      left: left_id,
      right: right_id,
      same: decision === 'confirmed',
    }));

/** A hash of the decisions. */
export function versionOf({ valid, lapsed }: Decided): string {
  const hash = createHash('sha256');
  for (const { id, decision } of valid) hash.update(`${id} ${decision}\n`);
  for (const id of lapsed) hash.update(`${id}\n`);
  return hash.digest('base64url').slice(0, 22);
}
