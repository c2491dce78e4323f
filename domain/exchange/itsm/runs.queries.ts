import Type from 'typebox';
import { fragment, type Sql } from '../../../platform/database.ts';
import { survivingCard } from '../../inventory/cards/merge/merge.redirect.ts';
import type { Ctx } from '../../kernel/context.ts';
import { defineList, ofParent } from '../../kernel/lists/lists.define.ts';
import { columnMembers, readItem } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Fragment, JsonText, ListSpec } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { BooleanOf, Choice, Uuid } from '../../kernel/shapes.ts';
import { VIEW_SYNC } from './connections.queries.ts';
import { Run, rowActions, rowStatuses, runDirections, runStatuses } from './itsm.model.ts';

/** Runs, the newest first. */
export const itsmRunList = defineList({
  name: 'itsm-runs',
  permission: VIEW_SYNC,
  from: 'itsm_runs r',
  id: 'r.id',
  sorts: { created_at: { sql: 'r.created_at', type: 'timestamptz', filled: true, immutable: true } },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  filters: {
    connection_id: [Type.String({ ...Uuid, description: 'The connection' }), 'r.connection_id = ?'],
    mapping_id: [Type.String({ ...Uuid, description: 'The mapping' }), 'r.mapping_id = ?'],
    status: [Choice(runStatuses, 'The status'), 'r.status = ?'],
    direction: [Choice(runDirections, 'The sides that the run may write to'), 'r.direction = ?'],
  },
  members: {
    ...columnMembers('r', Run.shown),
    progress: `case when r.status = 'completed' then 1
      else (select j.progress from jobs j where j.id = r.job_id) end`,
    stats: `jsonb_build_object('fetched', 0, 'relations_fetched', 0, 'processed', 0, 'created', 0, 'updated', 0, 'deleted', 0,
      'relations_created', 0, 'relations_deleted', 0, 'skipped', 0, 'errors', 0) || r.stats`,
    planned_at: 'utc(r.plan_made_at)',
  },
});

/** One run as JSON, without a permission check. @throws EstateError `not_found`. */
export async function runText(sql: Sql, id: string): Promise<JsonText> {
  return await readItem(sql, itsmRunList, 'run', id);
}

const status = `case p.progress when 'pending' then coalesce(p.approval, 'pending') when 'started' then 'pending'
  when 'applied' then 'applied' when 'skipped' then case p.approval when 'rejected' then 'rejected' else 'skipped' end
  else 'error' end`;

/** The name at an end of a relation: of the record's card, or of the card that the same plan creates. */
const endName = (end: 'source' | 'target'): string =>
  `coalesce(
    (select c.name from itsm_mappings m join itsm_pairs q on q.mapping_id = m.id
       join cards c on c.id = ${survivingCard('q.card_id')}
     where m.connection_id = r.connection_id and q.remote_id = p.row #>> '{link,${end}}' limit 1),
    (select w.row #>> '{diff,name,new}' from itsm_plan_rows w where w.run_id = p.run_id and w.action = 'create'
       and w.remote_id = p.row #>> '{link,${end}}' limit 1),
    (select c.name from cards c where c.id = (p.row #>> '{cards,${end}}')::uuid))`;

/** The record at an end of a relation; null as long as the same plan has yet to create it. */
const endRecord = (end: 'source' | 'target'): string =>
  `case when p.row #> '{link,${end}}' = p.row #> '{refers,${end}}' then
     (select q.remote_id from itsm_pairs q where q.mapping_id = r.mapping_id and q.state in ('linked', 'quarantined')
        and q.card_id = (p.row #>> '{cards,${end}}')::uuid limit 1)
   else p.row #>> '{link,${end}}' end`;

/** The candidates for a record, with the names of the cards. @param value an SQL expression for the stored candidates. */
export const candidatesOf = (value: string): string =>
  `(select coalesce(jsonb_agg(jsonb_build_object('card_id', o.one -> 'cardId', 'card_name', c.name,
       'score', o.one -> 'score', 'why', o.one -> 'why') order by o.place), '[]')
     from jsonb_array_elements(${value}) with ordinality as o (one, place)
     left join cards c on c.id = (o.one ->> 'cardId')::uuid)`;

/** The members of a plan row in responses. @param hidden paths whose values the caller may not see. */
function rowMembers(ctx: Ctx): ListSpec['members'] {
  const hidden = hiddenPaths(ctx);
  // texts of rows about hidden fields contain their values, except for the reason of an uncertain match
  const isAboutHidden = `p.action <> 'stage' and jsonb_exists_any(
    coalesce(p.row -> 'diff', '{}') || jsonb_build_object(coalesce(p.row ->> 'path', ''), null), ?::text[])`;
  const text = (value: string) =>
    hidden.length === 0
      ? value
      : {
          sql: `case when not coalesce(${isAboutHidden}, false) and not coalesce(${quotesHidden(value)}, false) then ${value} end`,
          bindings: [hidden, hidden],
        };
  return {
    id: `p.run_id || '-' || p.no`,
    no: 'p.no',
    action: 'p.action',
    side: 'p.side',
    remote_id: 'p.remote_id',
    card_id: 'p.card_id',
    name: `coalesce((select c.name from cards c where c.id = p.card_id), p.row #>> '{diff,name,new}',
      p.row #>> '{agreed,name,remote}', p.row #>> '{diff,name,old}')`,
    reason: text(`p.row ->> 'reason'`),
    diff:
      hidden.length === 0
        ? `coalesce(p.row -> 'diff', '{}')`
        : { sql: `coalesce(p.row -> 'diff', '{}') - ?::text[]`, bindings: [hidden] },
    remote_data: {
      sql: `(select jsonb_object_agg(a.key, a.value -> 'remote') from jsonb_each(p.row -> 'agreed') a
        where a.key <> all(?::text[]))`,
      bindings: [hidden],
    },
    path: `p.row -> 'path'`,
    needs: `p.row -> 'needs'`,
    candidates: candidatesOf(`p.row -> 'candidates'`),
    link: `case when jsonb_typeof(p.row -> 'link') = 'object' then jsonb_build_object(
      'relation_type_key', p.row #> '{link,relationType}', 'relation_id', p.row #> '{link,relationId}',
      'source', ${endRecord('source')}, 'source_name', ${endName('source')},
      'target', ${endRecord('target')}, 'target_name', ${endName('target')}) end`,
    status,
    outcome: 'p.progress',
    approval: 'p.approval',
    decided_by: 'p.decided_by',
    error_message: text(`case when p.progress in ('stale', 'refused') then p.message end`),
    note: text(`case when p.progress = 'applied' then p.message end`),
    made_id: 'p.made_id',
    open_since: 'utc(p.open_since)',
    created_at: 'utc(r.plan_made_at)',
    ended_at: 'utc(p.ended_at)',
  };
}

/** The rows of one run. @param runId a UUID. */
const rowsOf = (runId: string): string =>
  `(select * from itsm_plan_rows where run_id = '${uuid(runId)}') p join itsm_runs r on r.id = p.run_id`;

/** A UUID as part of SQL. */
export function uuid(text: string): string {
  if (!/^[0-9a-f-]{36}$/i.test(text)) throw new Error(`not a UUID: ${text}`);
  return text;
}

/** The rows of a run's plan; none before the plan is complete. They contain values of cards, so the caller also needs `inventory.view`. */
export const planRowList = defineList({
  name: 'itsm-plan-rows',
  permission: VIEW_SYNC,
  from: (_ctx, runId) => rowsOf(runId),
  id: 'p.no',
  idType: 'bigint',
  sorts: {
    no: { sql: 'p.no', type: 'bigint', filled: true, immutable: true },
    action: { sql: 'p.action', type: 'text', filled: true, immutable: true },
  },
  defaultSort: 'no',
  filters: {
    action: [Choice(rowActions, 'The action'), 'p.action = ?'],
    side: [Choice(['local', 'remote'], 'The side that the row writes to'), 'p.side = ?'],
    status: [Choice(rowStatuses, 'The status'), `(${status}) = ?`],
    already_open: [
      BooleanOf('Whether the row repeats a review item that was already open; `false` lists the new ones'),
      '(p.open_since is not null) = ?',
    ],
  },
  members: rowMembers,
  async where(ctx, _params, runId) {
    requirePermission(ctx.caller, 'inventory.view');
    await runText(ctx.db, runId);
    return [fragment`p.run_id = ${runId} and r.plan_made_at is not null`];
  },
});

/** The log of a run. */
export const runLogList = defineList({
  name: 'itsm-run-log',
  permission: VIEW_SYNC,
  from: (_ctx, runId) =>
    `(select * from itsm_run_log where run_id = '${uuid(runId)}') l join itsm_runs r on r.id = l.run_id`,
  id: 'l.id',
  idType: 'bigint',
  sorts: { id: { sql: 'l.id', type: 'bigint', filled: true, immutable: true } },
  defaultSort: 'id',
  filters: { level: [Choice(['info', 'warning', 'error'], 'The severity'), 'l.level = ?'] },
  members: {
    id: 'l.id::text',
    at: 'utc(l.at)',
    level: 'l.level',
    stage: 'l.stage',
    message(ctx) {
      const hidden = hiddenPaths(ctx);
      if (hidden.length === 0) return 'l.message';
      return {
        sql: `case when ${quotesHidden('l.message')} then 'This line is hidden, since it contains costs.' else l.message end`,
        bindings: [hidden],
      };
    },
  },
  where: ofParent('itsm_runs', 'run', 'l.run_id'),
});

/** Rows of a complete plan after a row number, with the members of {@link planRowList}. */
export async function readPlanRows(
  ctx: Ctx,
  runId: string,
  after: number,
  limit: number,
): Promise<Record<string, unknown>[]> {
  const item = projection(rowMembers(ctx), undefined);
  const { rows } = await ctx.db.raw(
    `select ${item.sql} as item from ${rowsOf(runId)}
     where r.plan_made_at is not null and p.no > ? order by p.no limit ?`,
    [...item.bindings, after, limit],
  );
  return rows.map(({ item: one }: { item: Record<string, unknown> }) => one);
}

/** Paths of mapped fields whose values the caller may not see. */
export function hiddenPaths({ caller, metamodel }: Ctx): string[] {
  if (may(caller, 'costs.view')) return [];
  const keys = [...metamodel.cardTypes.values()].flatMap(({ costKeys }) => costKeys);
  return [...new Set(keys.map((key) => `attributes.${key}`))];
}

/** An SQL expression that is null where the condition is true. The condition has one `?`, for the hidden paths. */
export const unlessHidden = (value: string, condition: string, hidden: string[]): string | Fragment =>
  hidden.length === 0
    ? value
    : { sql: `case when not coalesce(${condition}, false) then ${value} end`, bindings: [hidden] };

/**
 * A condition on a text of a run `r`: whether it contains a value of a hidden field. Such texts name the field or its column in
 * quotes. It has one `?`, for the hidden paths.
 */
const quotesHidden = (text: string): string => `exists (
  select from jsonb_array_elements(r.mapping -> 'fields') f where f ->> 'card_field' = any(?::text[])
    and (position('''' || (f ->> 'card_field') || '''' in ${text}) > 0
      or position('''' || (f ->> 'remote_field') || '''' in ${text}) > 0))`;
