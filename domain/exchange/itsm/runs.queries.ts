import { survivingCard } from '../../inventory/cards/merge/merge.redirect.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Fragment, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { VIEW_SYNC } from './connections.queries.ts';
import { equalConditions, runListSpec, runText } from './runs.commands.ts';

const status = `case p.progress when 'pending' then coalesce(p.approval, 'pending') when 'begun' then 'pending'
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
function rowMembers(hidden: string[]): ListSpec['members'] {
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

function uuid(text: string): string {
  if (!/^[0-9a-f-]{36}$/i.test(text)) throw new Error(`not a UUID: ${text}`);
  return text;
}

const rowList = (runId: string, hidden: string[]): ListSpec => ({
  name: 'itsm-plan-rows',
  from: rowsOf(runId),
  id: 'p.no',
  idType: 'bigint',
  sorts: {
    no: { sql: 'p.no', type: 'bigint', filled: true, immutable: true },
    action: { sql: 'p.action', type: 'text', filled: true, immutable: true },
  },
  defaultSort: 'no',
  defaultDir: 'asc',
  members: rowMembers(hidden),
});

interface RowFilters {
  action?: string;
  side?: string;
  status?: string;
  /** Whether the row repeats a review item of an earlier run. */
  already_open?: boolean;
}

/**
 * Rows of a run's plan; none before the plan is complete. They contain values of cards, so the caller also needs
 * `inventory.view`.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function listPlanRows(
  ctx: Ctx,
  runId: string,
  { action, side, status: wantedStatus, already_open, ...params }: ListParams & RowFilters,
): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW_SYNC);
  requirePermission(ctx.caller, 'inventory.view');
  await runText(ctx.db, runId);
  const where = [
    { sql: 'p.run_id = ? and r.plan_made_at is not null', bindings: [runId] },
    ...equalConditions({ 'p.action': action, 'p.side': side, [`(${status})`]: wantedStatus }),
    ...(already_open === undefined
      ? []
      : [{ sql: '(p.open_since is not null) = ?', bindings: [already_open] }]),
  ];
  const spec = rowList(runId, hiddenPaths(ctx));
  return await runList(ctx, spec, where, params);
}

const logList = (runId: string, hidden: string[]): ListSpec => ({
  name: 'itsm-run-log',
  from: `(select * from itsm_run_log where run_id = '${uuid(runId)}') l join itsm_runs r on r.id = l.run_id`,
  id: 'l.id',
  idType: 'bigint',
  sorts: { id: { sql: 'l.id', type: 'bigint', filled: true, immutable: true } },
  defaultSort: 'id',
  defaultDir: 'asc',
  members: {
    id: 'l.id::text',
    at: 'utc(l.at)',
    level: 'l.level',
    stage: 'l.stage',
    message:
      hidden.length === 0
        ? 'l.message'
        : {
            sql: `case when ${quotesHidden('l.message')} then 'This line is hidden, since it contains costs.' else l.message end`,
            bindings: [hidden],
          },
  },
});

/** The log of a run. @throws EstateError `forbidden`, `not_found`. */
export async function listRunLog(
  ctx: Ctx,
  runId: string,
  { level, ...params }: ListParams & { level?: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW_SYNC);
  await runText(ctx.db, runId);
  const where = [{ sql: 'l.run_id = ?', bindings: [runId] }, ...equalConditions({ 'l.level': level })];
  return await runList(ctx, logList(runId, hiddenPaths(ctx)), where, params);
}

/** Rows of a complete plan after a row number, with the members of {@link listPlanRows}. */
export async function readPlanRows(
  ctx: Ctx,
  runId: string,
  after: number,
  limit: number,
): Promise<Record<string, unknown>[]> {
  const item = projection(rowMembers(hiddenPaths(ctx)), undefined);
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

interface RunFilters {
  connection_id?: string;
  mapping_id?: string;
  status?: string;
  direction?: string;
}

/** Runs, the newest first. @throws EstateError `forbidden`. */
export async function listRuns(ctx: Ctx, params: ListParams & RunFilters): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW_SYNC);
  const { connection_id, mapping_id, status, direction, ...rest } = params;
  const where = equalConditions({
    'r.connection_id': connection_id,
    'r.mapping_id': mapping_id,
    'r.status': status,
    'r.direction': direction,
  });
  return await runList(ctx, runListSpec, where, rest);
}
