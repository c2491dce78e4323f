import type { Knex } from 'knex';
import { embed, query, type Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { createStager, storeRows } from '../imports/imports.cards.stage.ts';
import { readTagCatalogue, resolveTags } from '../imports/imports.people.ts';
import { readObjects } from '../imports/imports.source.ts';
import type { StoredRefs } from './stage.cards.ts';

/** The record of a card as the import of cards needs it. */
interface CardRecord {
  line: number;
  payload: Record<string, unknown>;
  refs: StoredRefs;
}

/** The next records of cards after a line, with one of the given actions. */
export async function readCardRecords(
  sql: Knex.Transaction,
  migrationId: string,
  line: number,
  actions: string[],
  limit: number,
): Promise<CardRecord[]> {
  return await query(sql).rows`select line, payload, coalesce(refs, '{}') as refs from migration_records
     where migration_id = ${migrationId} and entity_kind = 'card' and line > ${line}
     and action = any(${actions}::text[]) and payload is not null
     order by line limit ${embed(limit)}`;
}

/** Writes cards into the staging table of the import that has the id of a job. They keep their lines. */
export async function createCardWriter(
  ctx: Ctx,
  db: Sql,
  jobId: string,
): Promise<(sql: Knex.Transaction, records: readonly CardRecord[]) => Promise<void>> {
  const stage = await createStager(ctx, db, 'cards');
  const catalogue = await readTagCatalogue(db);
  return async (sql, records) => {
    const objects = records.map(({ line, payload }) => ({ line, value: payload }));
    const staged = await stage(sql, readObjects(ctx.metamodel, 'cards', objects));
    const refs = new Map(records.map((record) => [record.line, record.refs]));
    for (const card of staged) {
      const type = ctx.metamodel.cardTypes.get(card.type ?? '');
      const { tags, holders } = refs.get(card.line)!;
      if (!card.payload || !type) continue;
      card.payload.additive = true;
      // missing tags are created before cards are written
      if (tags) card.payload.tags = resolveTags(catalogue, type, tags).ids;
      if (holders) card.payload.holders = holders;
    }
    await storeRows(sql, jobId, 'cards', staged);
  };
}
