import { Readable } from 'node:stream';
import type { Knex } from 'knex';
import { queryRows } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { CardStager } from '../imports/imports.cards.stage.ts';
import { resolveTags, type TagCatalogue } from '../imports/imports.people.ts';
import { readSource } from '../imports/imports.source.ts';
import { storeRows } from '../imports/imports.staging.ts';
import type { StoredRefs } from './stage.cards.ts';

/** A card's record as the import of cards takes it. */
export interface CardRecord {
  line: number;
  payload: Record<string, unknown>;
  refs: StoredRefs;
}

/** The next cards behind the line that are to be carried out, by what would become of them. */
export async function cardsBehind(
  sql: Knex.Transaction,
  migrationId: string,
  line: number,
  actions: readonly string[],
  limit: number,
): Promise<CardRecord[]> {
  return await queryRows(
    sql,
    `select line, payload, coalesce(refs, '{}') as refs from migration_records
     where migration_id = ? and entity_kind = 'card' and line > ? and action = any(?::text[]) and payload is not null
     order by line limit ${limit}`,
    [migrationId, line, [...actions]],
  );
}

/** Hands cards to the import of cards, under the id of a job; their lines stay theirs. */
export async function handOver(
  ctx: Ctx,
  sql: Knex.Transaction,
  jobId: string,
  around: { stager: CardStager; catalogue: TagCatalogue },
  records: readonly CardRecord[],
): Promise<void> {
  const lines = records.map(({ payload }) => Buffer.from(`${JSON.stringify(payload)}\n`));
  const options = { kind: 'cards', format: 'ndjson', empty: 'leave' } as const;
  for await (const read of readSource(
    Readable.from(lines),
    ctx.metamodel,
    'cards',
    options,
    records.length,
  )) {
    const rows = read.map((row) => ({ ...row, line: records[row.line - 1]!.line }));
    const refs = new Map(records.map((record) => [record.line, record.refs]));
    const staged = await around.stager.stage(sql, rows);
    for (const card of staged) {
      const type = ctx.metamodel.cardTypes.get(card.type ?? '');
      const named = refs.get(card.line);
      if (!card.payload || !type || !named) continue;
      card.payload.additive = true;
      // tags that are not there yet are made before anything is written
      if (named.tags) card.payload.tags = resolveTags(around.catalogue, type, named.tags).ids;
      if (named.holders) card.payload.holders = named.holders;
    }
    await storeRows(sql, jobId, 'cards', staged);
  }
}
