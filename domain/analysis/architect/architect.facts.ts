import { embed, query, type Sql } from '../../../platform/database.ts';
import { visibleAttributes } from '../../inventory/cards/cards.projection.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { EOL_CYCLE, EOL_PRODUCT } from '../../kernel/metamodel/eol.fields.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { answersOf, planningHorizon } from './architect.answers.ts';
import type { SessionInput } from './architect.input.ts';
import { readScope } from './architect.scope.ts';
import type { Facts, Peer, ScopeApplication, ScopeCapability } from './architect.types.ts';
import { APPLICATION, CAPABILITY, relationTypesBetween } from './architect.words.ts';

/** The maximum number of applications of a session; those with the most capabilities first. */
const MOST_APPLICATIONS = 500;
/** The maximum number of relations of these applications. */
const MOST_PEERS = 20_000;

/**
 * The facts of the inventory for a session, as far as they are visible to the caller. Read in a fixed number of
 * statements.
 * @throws EstateError `forbidden` without `relations.view`, `validation_failed` for unknown objectives and capabilities.
 */
export async function readFacts(ctx: Ctx, input: SessionInput): Promise<Facts> {
  requirePermission(ctx.caller, 'relations.view');
  const day = new Date().toISOString().slice(0, 10);
  const { objectives, capabilities } = await readScope(ctx.db, ctx, input);
  const { rows, total } = await readApplications(ctx.db, ctx, capabilities);
  const peers = await readPeers(
    ctx.db,
    ctx,
    rows.map(({ id }) => id),
  );
  const inScope = new Map(capabilities.map((capability) => [capability.id, capability]));
  const applications = rows.map((row): ScopeApplication => {
    const all = peers.get(row.id) ?? [];
    const supported = [...new Set(all.flatMap(({ id, type }) => (type === CAPABILITY ? id : [])))];
    const capability_ids = supported.filter((id) => inScope.has(id));
    for (const id of capability_ids) inScope.get(id)!.application_ids.push(row.id);
    return {
      ...row,
      type: APPLICATION,
      capability_ids,
      other_capabilities: supported.length - capability_ids.length,
      peers: all.filter(({ type }) => type !== CAPABILITY),
    };
  });
  const horizon = planningHorizon(answersOf(input), day);
  return { day, horizon, objectives, capabilities, applications, total_applications: total };
}

/** The end of life of a card over the alias `c`: that of its release cycle, else that of its lifecycle. */
const ENDS_ON = `coalesce((
    select y.eol_from from eol_cycles y
    where y.product = c.attributes ->> '${EOL_PRODUCT}' and y.cycle = c.attributes ->> '${EOL_CYCLE}'),
  nullif(c.lifecycle ->> 'endOfLife', '')::date)::text`;

type ApplicationRow = Pick<ScopeApplication, 'id' | 'name' | 'subtype' | 'attributes' | 'ends_on'>;

/** The applications that support the capabilities. */
async function readApplications(
  sql: Sql,
  ctx: Ctx,
  capabilities: ScopeCapability[],
): Promise<{ rows: ApplicationRow[]; total: number }> {
  const ids = capabilities.flatMap(({ id, is_new }) => (is_new ? [] : id));
  if (ids.length === 0) return { rows: [], total: 0 };
  const visible = visibleCards(ctx);
  const attributes = visibleAttributes(ctx);
  const types = relationTypesBetween(ctx.metamodel, APPLICATION, CAPABILITY);
  const { rows } = await sql.raw(
    // LATERAL looks them up by id: the planner has no statistics on tables that were just filled.
    `with types as materialized (select unnest(?::text[]) as key),
     edges as (
       select i.id as capability_id, e.id from unnest(?::uuid[]) i(id) cross join lateral (
         select r.source_id as id, r.type from relations r where r.target_id = i.id
         union all
         select r.target_id, r.type from relations r where r.source_id = i.id
       ) e where e.type in (select key from types)
     ), ends as materialized (select id, count(distinct capability_id) as capabilities from edges group by id),
     found as materialized (
       select e.id, c.name_key, e.capabilities from ends e cross join lateral (
         select c.id, c.type, c.status, c.name_key from cards c where c.id = e.id offset 0) c
       where c.type = ? and c.status = 'ACTIVE' and (${visible.sql})
     ), chosen as (select * from found order by capabilities desc, name_key, id limit ?)
     select h.id, c.*, (select count(*)::int from found) as total
     from chosen h cross join lateral (
       select c.name, c.subtype, ${attributes.sql} as attributes, ${ENDS_ON} as ends_on
       from cards c where c.id = h.id offset 0) c
     order by h.name_key, h.id`,
    [types, ids, APPLICATION, ...visible.bindings, MOST_APPLICATIONS, ...attributes.bindings],
  );
  return {
    rows: rows.map(({ total: _, ...row }: ApplicationRow & { total: number }) => row),
    total: rows[0]?.total ?? 0,
  };
}

/** All cards related to the applications, by application. */
async function readPeers(sql: Sql, ctx: Ctx, ids: string[]): Promise<Map<string, Peer[]>> {
  if (ids.length === 0) return new Map();
  const visible = visibleCards(ctx);
  const types = ctx.metamodel.visibleRelationTypes;
  const rows = await query(sql).rows`with types as materialized (select unnest(${types}::text[]) as key),
     edges as (
       select i.id as application_id, e.* from unnest(${ids}::uuid[]) i(id) cross join lateral (
         select r.target_id as id, r.type as relation_type, 'outgoing' as direction
         from relations r where r.source_id = i.id
         union all
         select r.source_id, r.type, 'incoming' from relations r where r.target_id = i.id
       ) e where e.relation_type in (select key from types)
     )
     select e.application_id, e.relation_type, e.direction, e.id, c.name, c.type, c.ends_on
     from edges e cross join lateral (
       select c.id, c.name, c.type, c.status, c.name_key, ${embed(ENDS_ON)} as ends_on from cards c
       where c.id = e.id offset 0) c
     where c.status = 'ACTIVE' and (${embed(visible)})
     order by c.type, c.name_key, e.id, e.relation_type, e.application_id limit ${MOST_PEERS}`;
  const peers = new Map<string, Peer[]>();
  for (const { application_id, ...peer } of rows as (Peer & { application_id: string })[]) {
    const list = peers.get(application_id) ?? [];
    list.push(peer);
    peers.set(application_id, list);
  }
  return peers;
}
