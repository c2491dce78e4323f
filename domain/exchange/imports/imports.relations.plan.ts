import { embed, query } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { limitedSides } from '../../inventory/relations/relations.rules.ts';
import {
  type Planning,
  type PlanSpec,
  refuse,
  refuseDuplicates,
  refuseIds,
  representative,
} from './imports.planning.ts';

/**
 * Plans rows of relations: which cards they relate, and whether the relation exists. An end may be archived: the file may
 * contain relations that were created before their card was archived.
 */
export const relationPlan: PlanSpec = {
  rowsTable: 'import_relation_rows',
  planTable: 'import_relation_plan',
  rows: `select r.line, r.type, r.id as given_id, r.errors is not null or x.line is not null as failed,
     x.line is not null as repeated, null::integer as yields_to, r.bytes, t.source_type_key,
     t.target_type_key, t.cardinality,
     coalesce(r.source_id::text, r.source_external_id) as named_source,
     coalesce(r.target_id::text, r.target_external_id) as named_target,
     coalesce(si.id, se.id) as source_id, si.type as source_type,
     coalesce(ti.id, te.id) as target_id, ti.type as target_type,
     case when r.source_id is not null then 'source_id' else 'source_external_id' end as source_field,
     case when r.target_id is not null then 'target_id' else 'target_external_id' end as target_field,
     coalesce(case when :mode = 'create' then r.id end, uuidv7()) as relation_id, true as is_new
   from import_relation_rows r
   left join relation_types t on t.key = r.type
   left join cards si on si.id = r.source_id
   left join cards se on r.source_id is null and se.type = t.source_type_key
     and se.external_id = r.source_external_id
   left join cards ti on ti.id = r.target_id
   left join cards te on r.target_id is null and te.type = t.target_type_key
     and te.external_id = r.target_external_id
   left join plan_excluded x on x.line = r.line
   where r.job_id = :jobId`,
  indexes: [],
  async settle(planning) {
    await checkEnds(planning);
    await checkIdentity(planning);
    await checkCardinality(planning);
  },
  named: {
    value: `case e.field when p.source_field then p.named_source else p.named_target end`,
    type: 'case e.field when p.source_field then p.source_type_key else p.target_type_key end',
  },
  order: 'line',
  columns: 'line, relation_id, is_new, type, source_id, target_id',
};

/** Refuses rows whose ends do not exist, are invisible or have other types. The ends of a relation with an id cannot change. */
async function checkEnds(planning: Planning): Promise<void> {
  const { sql, ctx, pulse } = planning;
  const visible = embed(visibleCards(ctx));
  for (const side of ['source', 'target'].map(embed)) {
    await query(sql).run`update plan_rows p set ${side}_id = null, ${side}_type = null
       from cards c where c.id = p.${side}_id and not (${visible})`;
    await refuse(planning)`
       select line, ${side}_field, 'unknown_card',
         '"' || named_${side} || '" is no card of the type ' || ${side}_type_key
       from plan_rows
       where named_${side} is not null and ${side}_id is null and ${side}_type_key is not null`;
    await refuse(planning)`
       select line, ${side}_field, 'end_type', 'must be a card of the type ' || ${side}_type_key
       from plan_rows where ${side}_type <> ${side}_type_key`;
  }
  pulse();
  await query(sql).run`update plan_rows p set relation_id = r.id, is_new = false,
    source_id = coalesce(p.source_id, r.source_id),
       target_id = coalesce(p.target_id, r.target_id)
     from relations r where r.id = p.given_id`;
  await refuse(planning)`select p.line, case when p.type <> r.type then 'type' else 'id' end, 'ends_differ',
       'the relation has another type or joins other cards'
     from plan_rows p join relations r on r.id = p.given_id
     where p.type <> r.type or p.source_id <> r.source_id or p.target_id <> r.target_id`;
  await refuse(planning)`select line, target_field, 'same_card', 'is the same card as the source'
     from plan_rows where source_id = target_id`;
}

async function checkIdentity(planning: Planning): Promise<void> {
  const { sql, mode, pulse } = planning;
  await refuseIds(planning, 'relation');
  await refuse(planning)`
     select p.line, p.target_field, 'duplicate_relation',
       'the cards have the relation ' || r.id || ' of this type already'
     from plan_rows p join relations r on r.type = p.type and r.source_id = p.source_id and r.target_id = p.target_id
     where ${mode} = 'create' or r.id <> p.given_id`;
  pulse();
  await query(sql).run`update plan_rows p set relation_id = r.id, is_new = false from relations r
     where p.is_new and p.given_id is null and r.type = p.type and r.source_id = p.source_id
       and r.target_id = p.target_id`;
  await refuseDuplicates(
    planning,
    `select line, case when by_ends <> line then target_field else 'id' end as field,
       least(nullif(by_ends, line), nullif(by_id, line)) as first
     from (
       select line, target_field,
         case when source_id is not null and target_id is not null then
           ${representative('type, source_id, target_id')} end as by_ends,
         case when given_id is not null then ${representative('given_id')} end as by_id
       from plan_rows where not repeated
     ) k`,
  );
}

const PAGE = 2_000;
const exceeded = `'the card has another relation of this type, which is ' || p.cardinality`;

/** Refuses relations that exceed the cardinality of their type, in the inventory and among the previous rows. */
async function checkCardinality(planning: Planning): Promise<void> {
  const limited = [...planning.ctx.metamodel.relationTypes.values()].filter(
    (type) => limitedSides(type).length > 0,
  );
  const keys = (side: 'source' | 'target') =>
    limited.filter((type) => limitedSides(type).includes(side)).map((type) => type.key);
  for (const side of ['target', 'source'] as const) {
    if (keys(side).length === 0) continue;
    await refuse(planning)`select p.line, p.${embed(side)}_field, 'cardinality_exceeded', ${embed(exceeded)}
       from plan_rows p where not p.failed and p.is_new and p.type = any(${keys(side)}::text[]) and exists (
         select from relations r where r.type = p.type and r.${embed(side)}_id = p.${embed(side)}_id)`;
  }
  const onBoth = keys('source');
  const onTarget = keys('target').filter((key) => !onBoth.includes(key));
  await refuse(planning)`select line, target_field, 'cardinality_exceeded', message
     from (
       select p.line, p.target_field, ${embed(exceeded)} as message,
         min(p.line) over (partition by p.type, p.target_id) as first
       from plan_rows p where not p.failed and p.is_new and p.type = any(${onTarget}::text[])
     ) k where first < line`;
  if (onBoth.length > 0) await refuseSecondPartners(planning, onBoth);
}

/** Checks cardinalities that allow one relation on either side in the order of the file: failed rows do not count. */
async function refuseSecondPartners(planning: Planning, types: string[]): Promise<void> {
  const taken = new Set<string>();
  for (let line = 0; ; ) {
    const rows = await query(planning.sql).rows`select p.line, p.type, p.source_id, p.target_id
      from plan_rows p
       where p.line > ${line} and not p.failed and p.is_new and p.type = any(${types}::text[]) order by p.line
       limit ${embed(PAGE)}`;
    if (rows.length === 0) return;
    const refused: { line: number; side: string }[] = [];
    for (const row of rows) {
      const places = { target: `${row.type} > ${row.target_id}`, source: `${row.type} < ${row.source_id}` };
      const side = taken.has(places.target) ? 'target' : taken.has(places.source) ? 'source' : undefined;
      if (side) refused.push({ line: row.line, side });
      else taken.add(places.target).add(places.source);
    }
    line = rows.at(-1).line;
    await refuse(planning)`
       select p.line, case v.side when 'target' then p.target_field else p.source_field end, 'cardinality_exceeded',
         ${embed(exceeded)}
       from jsonb_to_recordset(${JSON.stringify(refused)}::jsonb) as v(line integer, side text)
       join plan_rows p on p.line = v.line`;
  }
}
