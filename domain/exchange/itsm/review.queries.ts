import { query } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers, runList } from '../../kernel/lists/lists.run.ts';
import type { Fragment, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { VIEW_SYNC } from './connections.queries.ts';
import { pairColumns, reviewItemColumns } from './itsm.model.ts';
import { equalConditions } from './runs.commands.ts';
import { candidatesOf, hiddenPaths, unlessHidden } from './runs.queries.ts';

function reviewItemList(hidden: string[]): ListSpec {
  const shown = (value: string) => unlessHidden(value, 'q.path = any(?::text[])', hidden);
  return {
    name: 'itsm-questions',
    from: 'itsm_review_items q left join cards c on c.id = q.card_id',
    id: 'q.id',
    sorts: { opened_at: { sql: 'q.opened_at', type: 'timestamptz', filled: true, immutable: true } },
    defaultSort: 'opened_at',
    defaultDir: 'asc',
    members: {
      ...columnMembers('q', { columns: reviewItemColumns }),
      card_name: 'c.name',
      record_name: `case when q.kind = 'match' and q.remote_id is not null then q.remote ->> 'name' end`,
      local: shown('q.local'),
      remote: {
        sql: `case when q.kind = 'match' then q.remote - ?::text[] when not q.path = any(?::text[]) is true then q.remote end`,
        bindings: [hidden, hidden],
      },
      reason: reasonUnlessHidden(hidden),
      candidates: candidatesOf('q.candidates'),
    },
  };
}

/** The reason, unless it may contain hidden values. The reason of a refused creation may contain values of all mapped fields. */
const reasonUnlessHidden = (hidden: string[]): string | Fragment =>
  hidden.length === 0
    ? 'q.reason'
    : {
        sql: `case when not coalesce(q.path = any(?::text[]), q.refused_side is not null and exists (
          select from itsm_field_mappings f where f.mapping_id = q.mapping_id and f.card_field = any(?::text[])))
          then q.reason end`,
        bindings: [hidden, hidden],
      };

/**
 * Open conflicts and uncertain matches, the oldest first. They contain values of cards, so the caller also needs
 * `inventory.view`.
 * @throws EstateError `forbidden`.
 */
export async function listReviewItems(
  ctx: Ctx,
  {
    mapping_id,
    kind,
    remote_id,
    ...params
  }: ListParams & { mapping_id?: string; kind?: string; remote_id?: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW_SYNC);
  requirePermission(ctx.caller, 'inventory.view');
  const where = equalConditions({ 'q.mapping_id': mapping_id, 'q.kind': kind, 'q.remote_id': remote_id });
  return await runList(ctx, reviewItemList(hiddenPaths(ctx)), where, params);
}

const pairList = (mappingId: string): ListSpec => ({
  name: 'itsm-pairs',
  // the key of a record is unique within one mapping only
  from: `(select * from itsm_pairs where mapping_id = '${mappingId}') p`,
  id: 'p.remote_id',
  idType: 'text',
  sorts: { remote_id: { sql: 'p.remote_id', type: 'text', filled: true, immutable: true } },
  defaultSort: 'remote_id',
  defaultDir: 'asc',
  members: columnMembers('p', { columns: pairColumns }),
});

/** The pairs of a mapping. @throws EstateError `forbidden`, `not_found`. */
export async function listPairs(
  ctx: Ctx,
  mappingId: string,
  {
    state,
    card_id,
    remote_id,
    ...params
  }: ListParams & { state?: string; card_id?: string; remote_id?: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW_SYNC);
  const rows = await query(ctx.db).rows`select id from itsm_mappings where id = ${mappingId}`;
  if (!rows[0]) throw notFound('mapping', mappingId);
  const where = [
    { sql: 'p.mapping_id = ?', bindings: [mappingId] },
    ...equalConditions({ 'p.state': state, 'p.card_id': card_id, 'p.remote_id': remote_id }),
  ];
  return await runList(ctx, pairList(rows[0].id), where, params);
}
