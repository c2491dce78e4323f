import { queryRows } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { lockCards } from '../../inventory/cards/cards.load.ts';
import { requireManage } from '../../inventory/relations/relations.admit.ts';
import { loadCompeting, loadEnds } from '../../inventory/relations/relations.load.ts';
import { saveRelations } from '../../inventory/relations/relations.save.ts';
import type { RelationEnd, StoredRelation } from '../../inventory/relations/relations.types.ts';
import { createWorkingSet } from '../../inventory/relations/relations.working-set.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import type { RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import { linkEvent } from './bpm.events.ts';
import { ElementLink, type LinkRow, type LinkTargets } from './bpm.model.ts';
import { BPM_TOPIC, linkKinds, type ProcessCard } from './bpm.types.ts';
import { type LinkedCard, type LinkRelation, linkedCards, pairKey, planRelations } from './links.plan.ts';

/** The result of a change of links. */
export interface LinkOutcome {
  links_removed: number;
  relations_created: number;
  relations_removed: number;
}

/** The links in force of a lineage, by the ids of their elements. */
export async function activeLinks(
  { sql }: Pick<Work, 'sql'>,
  lineageId: string,
): Promise<Map<string, LinkRow>> {
  const rows = await findRows(sql, ElementLink, (query) =>
    query.where({ lineage_id: lineageId, flow_version_id: null }).orderBy('bpmn_element_id').forUpdate(),
  );
  return new Map(rows.map((row) => [row.bpmn_element_id, row]));
}

/**
 * Replaces the links of a lineage and writes the relations that follow from them. The process must be locked.
 * @throws EstateError `forbidden` where the caller may not write such a relation, `cardinality_exceeded`.
 */
export async function saveLinks(
  work: Work,
  ctx: Ctx,
  process: ProcessCard,
  lineageId: string,
  after: ReadonlyMap<string, LinkTargets>,
): Promise<LinkOutcome> {
  const cards = [...linkedCards(await activeLinks(work, lineageId)).values(), ...linkedCards(after).values()];
  await lockCards(work, new Set([process.id, ...cards.map(({ card_id }) => card_id)]), 'no key update');
  // read again after the cards are locked
  const before = await activeLinks(work, lineageId);
  const existing = await linkRelations(work, before);
  const plan = planRelations(
    before,
    after,
    existing.map(({ link }) => link),
  );
  const created = await createRelations(work, ctx, process, plan.wanted);
  for (const [key, id] of created.ids) {
    const { first } = linkedCards(after).get(key)!;
    plan.retained.set(first, [...(plan.retained.get(first) ?? []), id]);
  }
  const removed = existing.filter(({ link }) => plan.removed.includes(link)).map(({ relation }) => relation);
  const ends = await relationEnds(work, ctx, process, removed);
  for (const { target_id } of removed) requireManage(ctx, ends.get(process.id)!, ends.get(target_id)!);

  const wanted = new Map(
    [...after].map(([element, targets]) => [
      element,
      { ...targets, relation_ids: (plan.retained.get(element) ?? []).sort() },
    ]),
  );
  await writeRows(work, { process_id: process.id, lineage_id: lineageId }, before, wanted);
  await saveRelations(
    work,
    ctx,
    [...created.writes, ...removed.map((relation) => ({ before: relation, after: null }))],
    new Map([...created.ends, ...ends]),
  );
  return {
    links_removed: [...before.keys()].filter((element) => !after.has(element)).length,
    relations_created: created.ids.size,
    relations_removed: removed.length,
  };
}

/** The relations that were created for links and still exist. */
async function linkRelations(
  { sql }: Work,
  links: ReadonlyMap<string, LinkRow>,
): Promise<{ link: LinkRelation; relation: StoredRelation }[]> {
  const ids = [...links.values()].flatMap(({ relation_ids }) => relation_ids);
  if (ids.length === 0) return [];
  const relations = await queryRows<StoredRelation>(
    sql,
    `select id, type, source_id, target_id, attributes, description from relations
     where id = any(?::uuid[]) order by id for update`,
    [ids],
  );
  return relations.flatMap((relation) => {
    const kind = linkKinds.find((known) => known.relation === relation.type);
    if (!kind) return [];
    const is_untouched = Object.keys(relation.attributes).length === 0 && relation.description === null;
    return [
      { link: { id: relation.id, column: kind.column, card_id: relation.target_id, is_untouched }, relation },
    ];
  });
}

/** Creates relations of the process to cards, except for existing ones and for types that the metamodel does not have. */
async function createRelations(work: Work, ctx: Ctx, process: ProcessCard, wanted: LinkedCard[]) {
  const { sql, metamodel } = work;
  const ids = new Map<string, string>();
  const places = wanted.flatMap((card) => {
    const { relation } = linkKinds.find(({ column }) => column === card.column)!;
    const type = metamodel.visibleRelationTypes.includes(relation) && metamodel.relationTypes.get(relation);
    return type ? [{ card, type: type as RelationType, source_id: process.id, target_id: card.card_id }] : [];
  });
  const ends = await loadEnds(sql, ctx, [process.id, ...wanted.map(({ card_id }) => card_id)]);
  const book = createWorkingSet(await loadCompeting(sql, places));
  const free = places.filter(
    ({ type, source_id, target_id }) => !book.find({ type: type.key, source_id, target_id }),
  );
  if (free.length > 0) {
    const newIds = await queryRows<{ id: string }>(sql, 'select uuidv7() as id from generate_series(1, ?)', [
      free.length,
    ]);
    for (const [n, { card, type, source_id, target_id }] of free.entries()) {
      const [source, target] = [ends.get(source_id), ends.get(target_id)];
      if (!source || !target) throw notFound('card', target ? source_id : target_id);
      requireManage(ctx, source, target);
      const place = { type: type.key, source_id, target_id };
      book.requireRoom(type, place);
      const { id } = newIds[n]!;
      book.put({ id, ...place, attributes: {}, description: null });
      ids.set(pairKey(card), id);
    }
  }
  return { ids, writes: book.writes(), ends };
}

/** The cards of removed relations, including those that the caller does not see. */
async function relationEnds(
  { sql }: Work,
  ctx: Ctx,
  process: ProcessCard,
  removed: StoredRelation[],
): Promise<Map<string, RelationEnd>> {
  if (removed.length === 0) return new Map();
  const ends = await queryRows<RelationEnd>(
    sql,
    `select c.id, c.type, c.name, c.status,
       array(select s.role from stakeholders s where s.card_id = c.id and s.user_id = ?::uuid) as "myRoles"
     from cards c where c.id = any(?::uuid[])`,
    [ctx.caller.userId, [process.id, ...removed.map(({ target_id }) => target_id)]],
  );
  return new Map(ends.map((end) => [end.id, end]));
}

type Wanted = LinkTargets & { relation_ids: string[] };
type Owner = { process_id: string; lineage_id: string; flow_version_id?: string };

const COLUMNS = [...linkKinds.map(({ column }) => column), 'custom_fields', 'relation_ids'].join(', ');

/** Deletes, updates and inserts links, with an event for each; equal ones are not written. */
export async function writeRows(
  { sql, emit, raise }: Work,
  owner: Owner,
  before: ReadonlyMap<string, LinkRow>,
  after: ReadonlyMap<string, Wanted>,
): Promise<void> {
  const removed = [...before.values()].filter(({ bpmn_element_id }) => !after.has(bpmn_element_id));
  const added = [...after].filter(([element]) => !before.has(element));
  const changed = [...after].flatMap(([element, values]) => {
    const row = before.get(element);
    return row && Object.keys(differing(row, { ...values })).length > 0 ? [{ id: row.id, ...values }] : [];
  });
  if (removed.length > 0) {
    const ids = removed.map(({ id }) => id);
    await sql('process_element_links').whereIn('id', ids).delete();
    for (const row of removed) emit(linkEvent(row, null));
  }
  if (changed.length > 0) {
    const updated = await queryRows<{ row: LinkRow }>(
      sql,
      `update process_element_links l set (${COLUMNS}) =
         (select ${COLUMNS.replace(/\w+/g, 'v.$&')}), updated_at = clock_timestamp()
       from jsonb_populate_recordset(null::process_element_links, ?::jsonb) v where v.id = l.id
       returning to_jsonb(l) as row`,
      [JSON.stringify(changed)],
    );
    for (const { row } of updated) emit(linkEvent(before.get(row.bpmn_element_id)!, row));
  }
  if (added.length > 0) {
    const inserted = await queryRows<{ row: LinkRow }>(
      sql,
      `insert into process_element_links as l (process_id, lineage_id, flow_version_id, bpmn_element_id, ${COLUMNS})
       select process_id, lineage_id, flow_version_id, bpmn_element_id, ${COLUMNS}
       from jsonb_populate_recordset(null::process_element_links, ?::jsonb) returning to_jsonb(l) as row`,
      [JSON.stringify(added.map(([bpmn_element_id, values]) => ({ ...owner, bpmn_element_id, ...values })))],
    );
    for (const { row } of inserted) emit(linkEvent(null, row));
  }
  if (removed.length + changed.length + added.length > 0) raise(BPM_TOPIC);
}
