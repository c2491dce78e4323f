import { embed, query } from '../../../platform/database.ts';
import { type FieldError, invalidFields, notFound } from '../../../platform/errors.ts';
import type { EventCard } from '../../collaboration/items.ts';
import { lockCards } from '../../inventory/cards/cards.load.ts';
import { requireManage } from '../../inventory/relations/relations.admit.ts';
import { loadCompeting, loadEnds } from '../../inventory/relations/relations.load.ts';
import type { RelationEnd, StoredRelation } from '../../inventory/relations/relations.model.ts';
import { saveRelations } from '../../inventory/relations/relations.save.ts';
import { createWorkingSet } from '../../inventory/relations/relations.working-set.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { findRows, insertRows, updateRows } from '../../kernel/resources/rows.ts';
import { lockProcess, rights } from './bpm.access.ts';
import { linkEvent } from './bpm.events.ts';
import {
  BPM_TOPIC,
  ElementLink,
  type LinkColumn,
  type LinkRow,
  type LinkTargets,
  linkKinds,
} from './bpm.model.ts';
import { currentDiagram } from './diagrams.queries.ts';
import { elementId, elementText } from './elements.list.ts';

/** A card to which elements of a process are linked, with the kind of link. */
interface LinkedCard {
  column: LinkColumn;
  card_id: string;
}

export const pairKey = ({ column, card_id }: LinkedCard): string => `${column} ${card_id}`;

/** The cards of links, each with the first element, by its id, that is linked to it. */
export function linkedCards(
  links: ReadonlyMap<string, Pick<LinkTargets, LinkColumn>>,
): Map<string, LinkedCard & { first: string }> {
  const cards = new Map<string, LinkedCard & { first: string }>();
  for (const element of [...links.keys()].sort()) {
    for (const { column } of linkKinds) {
      const card_id = links.get(element)![column];
      if (card_id === null) continue;
      const card = { column, card_id, first: element };
      if (!cards.has(pairKey(card))) cards.set(pairKey(card), card);
    }
  }
  return cards;
}

/** A relation that was created for a link. */
export interface LinkRelation extends LinkedCard {
  id: string;
  /** It has neither attributes nor a description. */
  is_untouched: boolean;
}

interface RelationPlan {
  /** Newly linked cards; relations to them are created where there are none. */
  wanted: LinkedCard[];
  /** Relations that were created for links of which none is left. */
  removed: LinkRelation[];
  /** The ids of relations that stay, by the element whose link refers to them. */
  retained: Map<string, string[]>;
}

/**
 * Plans the relations after a change of links. The first link to a card creates the relation. Removing the last link
 * deletes it, but only if it was created for a link and nobody has changed it since. Unchanged links do not recreate a
 * relation that somebody has deleted.
 */
export function planRelations(
  before: ReadonlyMap<string, Pick<LinkTargets, LinkColumn>>,
  after: ReadonlyMap<string, Pick<LinkTargets, LinkColumn>>,
  relations: readonly LinkRelation[],
): RelationPlan {
  const cardsBefore = linkedCards(before);
  const cardsAfter = linkedCards(after);
  const retained = new Map<string, string[]>();
  for (const relation of relations) {
    const first = cardsAfter.get(pairKey(relation))?.first;
    if (first !== undefined) retained.set(first, [...(retained.get(first) ?? []), relation.id]);
  }
  return {
    wanted: [...cardsAfter.values()].filter((card) => !cardsBefore.has(pairKey(card))),
    removed: relations.filter((relation) => relation.is_untouched && !cardsAfter.has(pairKey(relation))),
    retained,
  };
}

/** The links of a request; absent ones are null. */
export type LinkInput = Partial<LinkTargets>;

/** The targets of links, without the other columns of their rows. */
export function targetsOf(links: ReadonlyMap<string, LinkTargets>): Map<string, LinkTargets> {
  return new Map(
    [...links].map(([element, { application_id, data_object_id, it_component_id, custom_fields }]) => [
      element,
      { application_id, data_object_id, it_component_id, custom_fields },
    ]),
  );
}

/** The largest custom fields of an element, in bytes of JSON. */
export const MAX_FIELDS = 16_384;

const NONE: LinkTargets = {
  application_id: null,
  data_object_id: null,
  it_component_id: null,
  custom_fields: null,
};

/** The input with null for absent members. */
export function completeTargets(input: LinkInput): LinkTargets {
  const targets = { ...NONE, custom_fields: input.custom_fields ?? null };
  for (const { column } of linkKinds) targets[column] = input[column]?.toLowerCase() ?? null;
  return targets;
}

/** Whether the element has neither links nor custom fields. */
const isEmpty = (targets: LinkTargets): boolean =>
  targets.custom_fields === null && linkKinds.every(({ column }) => targets[column] === null);

/**
 * Checks new links: the caller must see the cards, which must be active and of the type of the link. Unchanged links are
 * not checked.
 * @returns the errors.
 */
export async function checkTargets(
  { sql }: Work,
  ctx: Ctx,
  before: LinkTargets | undefined,
  after: LinkTargets,
): Promise<FieldError[]> {
  const changed = linkKinds.filter(({ column }) => after[column] !== (before?.[column] ?? null));
  const ids = changed.flatMap(({ column }) => after[column] ?? []);
  const ends = ids.length > 0 ? await loadEnds(sql, ctx, ids) : new Map<string, RelationEnd>();
  const errors: FieldError[] = [];
  for (const { column, type } of changed) {
    if (after[column] === null) continue;
    const card = ends.get(after[column]);
    if (!card) errors.push({ field: column, code: 'unknown_card', message: 'is no card' });
    else if (card.type !== type) {
      errors.push({ field: column, code: 'end_type', message: `must be a card of the type ${type}` });
    } else if (card.status !== 'ACTIVE') {
      errors.push({ field: column, code: 'end_archived', message: 'is archived' });
    }
  }
  const fields = after.custom_fields;
  if (fields !== null && Buffer.byteLength(JSON.stringify(fields)) > MAX_FIELDS) {
    errors.push({ field: 'custom_fields', code: 'too_long', message: `has more than ${MAX_FIELDS} bytes` });
  }
  return errors;
}

/** The result of a change of links. */
export interface LinkOutcome {
  links_removed: number;
  relations_created: number;
  relations_removed: number;
}

/** Locks links. @returns them by the ids of their elements. */
export async function lockLinks(
  { sql }: Pick<Work, 'sql'>,
  links: Partial<LinkRow>,
): Promise<Map<string, LinkRow>> {
  const rows = await findRows(sql, ElementLink, (query) =>
    query.where(links).orderBy('bpmn_element_id').forUpdate(),
  );
  return new Map(rows.map((row) => [row.bpmn_element_id, row]));
}

/** The links in force of a lineage, by the ids of their elements. */
export const activeLinks = (work: Pick<Work, 'sql'>, lineageId: string) =>
  lockLinks(work, { lineage_id: lineageId, flow_version_id: null });

/**
 * Replaces the links of a lineage and writes the relations that follow from them. The process must be locked.
 * @throws EstateError `forbidden` where the caller may not write such a relation, `cardinality_exceeded`.
 */
export async function saveLinks(
  work: Work,
  ctx: Ctx,
  process: EventCard,
  lineageId: string,
  after: ReadonlyMap<string, LinkTargets>,
): Promise<LinkOutcome> {
  const cards = [...linkedCards(await activeLinks(work, lineageId)).values(), ...linkedCards(after).values()];
  await lockCards(work, new Set([process.id, ...cards.map(({ card_id }) => card_id)]), 'no key update');
  // read again after the cards are locked
  const before = await activeLinks(work, lineageId);
  const existing = await linkRelations(work, before);
  const links = existing.map(({ link }) => link);
  const plan = planRelations(before, after, links);
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
  const writes = [...created.writes, ...removed.map((relation) => ({ before: relation, after: null }))];
  await saveRelations(work, ctx, writes, new Map([...created.ends, ...ends]));
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
  const relations = await query(sql).rows<StoredRelation>`select id, type, source_id, target_id, attributes,
    description from relations
     where id = any(${ids}::uuid[]) order by id for update`;
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
async function createRelations(work: Work, ctx: Ctx, process: EventCard, wanted: LinkedCard[]) {
  const { sql, metamodel } = work;
  const ids = new Map<string, string>();
  const places = wanted.flatMap((card) => {
    const { relation } = linkKinds.find(({ column }) => column === card.column)!;
    const type = metamodel.visibleRelationTypes.includes(relation) && metamodel.relationTypes.get(relation);
    return type ? [{ card, type: type as RelationType, source_id: process.id, target_id: card.card_id }] : [];
  });
  const ends = await loadEnds(sql, ctx, [process.id, ...wanted.map(({ card_id }) => card_id)]);
  const workingSet = createWorkingSet(await loadCompeting(sql, places));
  const free = places.filter(
    ({ type, source_id, target_id }) => !workingSet.find({ type: type.key, source_id, target_id }),
  );
  if (free.length > 0) {
    const newIds = await query(sql).rows<{ id: string }>`select uuidv7() as id
      from generate_series(1, ${free.length})`;
    for (const [n, { card, type, source_id, target_id }] of free.entries()) {
      const [source, target] = [ends.get(source_id), ends.get(target_id)];
      if (!source || !target) throw notFound('card', target ? source_id : target_id);
      requireManage(ctx, source, target);
      const place = { type: type.key, source_id, target_id };
      workingSet.requireCardinality(type, place);
      const { id } = newIds[n]!;
      workingSet.put({ id, ...place, attributes: {}, description: null });
      ids.set(pairKey(card), id);
    }
  }
  return { ids, writes: workingSet.writes(), ends };
}

/** The cards of removed relations, including those that the caller does not see. */
async function relationEnds(
  { sql }: Work,
  ctx: Ctx,
  process: EventCard,
  removed: StoredRelation[],
): Promise<Map<string, RelationEnd>> {
  if (removed.length === 0) return new Map();
  const ends = await query(sql).rows<RelationEnd>`select c.id, c.type, c.name, c.status,
       array(select s.role from stakeholders s
       where s.card_id = c.id and s.user_id = ${ctx.caller.userId}::uuid) as "myRoles"
     from cards c where c.id = any(${[process.id, ...removed.map(({ target_id }) => target_id)]}::uuid[])`;
  return new Map(ends.map((end) => [end.id, end]));
}

type Wanted = LinkTargets & { relation_ids: string[] };
const WRITTEN = [...linkKinds.map(({ column }) => column), 'custom_fields', 'relation_ids'] as const;

type Owner = { process_id: string; lineage_id: string; flow_version_id?: string };

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
    return row && Object.keys(differingMembers(row, { ...values })).length > 0 ? [{ ...row, ...values }] : [];
  });
  if (removed.length > 0) {
    const ids = removed.map(({ id }) => id);
    await sql('process_element_links').whereIn('id', ids).delete();
    for (const row of removed) emit(linkEvent(row, null));
  }
  if (changed.length > 0) {
    await updateRows(sql, ElementLink, changed, WRITTEN);
    for (const row of changed) emit(linkEvent(before.get(row.bpmn_element_id)!, row));
  }
  if (added.length > 0) {
    const rows = added.map(([bpmn_element_id, values]) => ({ ...owner, bpmn_element_id, ...values }));
    const inserted = await insertRows(sql, ElementLink, rows);
    for (const row of inserted) emit(linkEvent(null, row));
  }
  if (removed.length + changed.length + added.length > 0) raise(BPM_TOPIC);
}

/**
 * Links an element of the current diagram of a process to cards; absent targets are unlinked.
 * @throws EstateError `not_found`, `forbidden`, `wrong_state`, `precondition_failed`, `validation_failed`,
 * `cardinality_exceeded`.
 */
export async function linkElement(
  ctx: Ctx,
  processId: string,
  id: string,
  input: LinkInput,
): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const { sql } = work;
    const process = await lockProcess(work, ctx, processId, rights.edit);
    const diagram = await currentDiagram(sql, process.id);
    if (!diagram) throw notFound('process element', id);
    const [element] = await query(sql).rows<{ id: string; bpmn_element_id: string }>`
         select e.id, e.bpmn_element_id from process_content_elements e
       where e.content_id = ${diagram.content_id} and ${embed(elementId(`'${diagram.lineage_id}'`))} = ${id}::uuid`;
    if (!element) throw notFound('process element', id);
    if (ctx.ifMatch) checkIfMatch(ctx, await elementText(sql, ctx, diagram, element.id));
    const links = await activeLinks(work, diagram.lineage_id);
    const after = completeTargets(input);
    const errors = await checkTargets(work, ctx, links.get(element.bpmn_element_id), after);
    if (errors.length > 0) throw invalidFields(errors);
    const all = targetsOf(links);
    if (isEmpty(after)) all.delete(element.bpmn_element_id);
    else all.set(element.bpmn_element_id, after);
    await saveLinks(work, ctx, process, diagram.lineage_id, all);
    return await elementText(sql, ctx, diagram, element.id);
  });
}
