import Type from 'typebox';
import type { Ctx } from '../../kernel/context.ts';
import { defineList, ofParent } from '../../kernel/lists/lists.define.ts';
import { columnMembers } from '../../kernel/lists/lists.run.ts';
import type { Fragment } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { Choice, FilledText, Uuid } from '../../kernel/shapes.ts';
import { VIEW_SYNC } from './connections.queries.ts';
import { pairColumns, pairStates, reviewItemColumns } from './itsm.model.ts';
import { candidatesOf, hiddenPaths, unlessHidden, uuid } from './runs.queries.ts';

const shown = (value: string) => (ctx: Ctx) =>
  unlessHidden(value, 'q.path = any(?::text[])', hiddenPaths(ctx));

const recordKey = FilledText(200, 'The key of the record at the remote');

/** Open conflicts and uncertain matches, the oldest first. They contain values of cards, so the caller also needs `inventory.view`. */
export const reviewItemList = defineList({
  name: 'itsm-questions',
  permission: VIEW_SYNC,
  from: 'itsm_review_items q left join cards c on c.id = q.card_id',
  id: 'q.id',
  sorts: { opened_at: { sql: 'q.opened_at', type: 'timestamptz', filled: true, immutable: true } },
  defaultSort: 'opened_at',
  filters: {
    mapping_id: [Type.String({ ...Uuid, description: 'The mapping' }), 'q.mapping_id = ?'],
    kind: [Choice(['conflict', 'match'], 'The kind of review item'), 'q.kind = ?'],
    remote_id: [recordKey, 'q.remote_id = ?'],
  },
  members: {
    ...columnMembers('q', { columns: reviewItemColumns }),
    card_name: 'c.name',
    record_name: `case when q.kind = 'match' and q.remote_id is not null then q.remote ->> 'name' end`,
    local: shown('q.local'),
    remote: (ctx) => {
      const hidden = hiddenPaths(ctx);
      const sql = `case when q.kind = 'match' then q.remote - ?::text[] when not q.path = any(?::text[]) is true then q.remote end`;
      return { sql, bindings: [hidden, hidden] };
    },
    reason: (ctx) => reasonUnlessHidden(hiddenPaths(ctx)),
    candidates: candidatesOf('q.candidates'),
  },
  where(ctx) {
    requirePermission(ctx.caller, 'inventory.view');
    return [];
  },
});

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

/** The pairs of a mapping. */
export const pairList = defineList({
  name: 'itsm-pairs',
  permission: VIEW_SYNC,
  // the key of a record is unique within one mapping only
  from: (_ctx, mappingId) => `(select * from itsm_pairs where mapping_id = '${uuid(mappingId)}') p`,
  id: 'p.remote_id',
  idType: 'text',
  sorts: { remote_id: { sql: 'p.remote_id', type: 'text', filled: true, immutable: true } },
  defaultSort: 'remote_id',
  filters: {
    state: [Choice(pairStates, 'The state of the pair'), 'p.state = ?'],
    card_id: [Type.String({ ...Uuid, description: 'The card' }), 'p.card_id = ?'],
    remote_id: [recordKey, 'p.remote_id = ?'],
  },
  members: columnMembers('p', { columns: pairColumns }),
  where: ofParent('itsm_mappings', 'mapping', 'p.mapping_id'),
});
