import type { Knex } from 'knex';
import { queryRows } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import type { StoredCard } from './cards.load.ts';
import { dataQuality, qualityFacts } from './rules/quality.ts';

/** The card with the data quality that follows from its values and surroundings. */
export function rescored(type: CardType, card: StoredCard): StoredCard {
  return { ...card, data_quality: dataQuality(type, card, qualityFacts(type, card.filled)) };
}

/** Writes the rows of changed cards in one statement. */
export async function updateRows(sql: Knex.Transaction, ctx: Ctx, cards: StoredCard[]): Promise<void> {
  await queryRows(
    sql,
    `update cards c set
       subtype = v.subtype, name = v.name, alias = v.alias, description = v.description, parent_id = v.parent_id,
       lifecycle = v.lifecycle, attributes = v.attributes, external_id = v.external_id, status = v.status,
       approval_status = v.approval_status, data_quality = v.data_quality, archived_at = v.archived_at,
       archive_batch_id = v.archive_batch_id, updated_by = ?::uuid, updated_at = clock_timestamp()
     from jsonb_to_recordset(?::jsonb) as v(id uuid, subtype text, name text, alias text, description text,
       parent_id uuid, lifecycle jsonb, attributes jsonb, external_id text, status text, approval_status text,
       data_quality numeric, archived_at timestamptz, archive_batch_id uuid)
     where c.id = v.id`,
    [ctx.caller.userId, JSON.stringify(cards)],
  );
}
