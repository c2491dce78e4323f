import { query, type Sql, type Transaction } from '../../../platform/database.ts';
import type { RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { fold } from '../../kernel/transfer/columns.ts';
import { readUserIds } from '../imports/imports.people.ts';
import {
  authorOf,
  type Converted,
  convertComment,
  convertDocument,
  convertRelation,
  type Named,
  namedCells,
  statusOf,
  textOf,
} from './convert.ts';
import { addressesOf, quoted } from './convert.values.ts';
import { roleOf } from './mapping.guess.ts';
import type { CardReference, RecordTarget } from './record-kinds.ts';
import type { SourceRow } from './source.types.ts';
import { type Found, lookUpCards, type Reference } from './stage.lookup.ts';
import {
  ARCHIVED,
  insertRecords,
  type NewRecord,
  omittedValues,
  type Staging,
  sourcePlace,
  stakeholderRecord,
} from './staging.ts';

/** A row that is no card, with its cells by mapping target. */
interface OtherRow {
  row: SourceRow;
  target: RecordTarget;
  named: Named;
}

/** A card of the file that gets stakeholders. */
type HeldCard = NewRecord & { holders: { user_id: string; role: string }[] };

interface StagingLookups {
  staging: Staging;
  linkTypes: ReadonlyMap<string, string>;
  /** User ids by address in lower case. */
  users: ReadonlyMap<string, string>;
  now: Date;
  /** The cards that rows give stakeholders. */
  find: Awaited<ReturnType<typeof lookUpCards>>;
  /** Those of the file by line. */
  cards: ReadonlyMap<number, HeldCard>;
}

/** Creates the records of rows that are no cards, after those of all cards of the file. */
export async function stageOthers(staging: Staging, sql: Transaction, rows: SourceRow[]): Promise<void> {
  const { id } = staging.migration;
  const others = rows.map((row): OtherRow => {
    const block = staging.mapped.get(row.native_type)!;
    return { row, target: block.target as RecordTarget, named: namedCells(block, row) };
  });
  const addresses = others.flatMap(({ named }) => [
    ...peopleOf(named),
    ...(['', 'reply.'] as const).flatMap((prefix) => authorOf(named, prefix) ?? []),
  ]);
  const held = others
    .filter(({ target }) => target.kind === 'subscription')
    .flatMap((row) => referTo(staging, row, { card: 'source' }).refs);
  const find = await lookUpCards(sql, id, held);
  const around: StagingLookups = {
    staging,
    linkTypes: await readLinkTypes(sql),
    users: await readUserIds(sql, addresses),
    now: new Date(),
    find,
    cards: await readHeldCards(
      sql,
      id,
      held.flatMap((reference) => find(reference).line ?? []),
    ),
  };
  const drafts = others.flatMap((other) => converters[other.target.kind](around, other));
  await insertRecords(sql, id, drafts);
}

async function readLinkTypes(sql: Sql): Promise<Map<string, string>> {
  const rows: { key: string; label: string }[] = await sql('resource_types')
    .where({ kind: 'link_type', is_enabled: true })
    .orderBy(['sort_order', 'key'])
    .select('key', 'label');
  return new Map(rows.map(({ key, label }) => [key, label]));
}

/** The e-mail addresses that a row names, in lower case. */
const peopleOf = (named: Named): string[] => [
  ...new Set(addressesOf(textOf(named, 'person')).map((email) => email.toLowerCase())),
];

async function readHeldCards(
  sql: Transaction,
  migrationId: string,
  lines: number[],
): Promise<Map<number, HeldCard>> {
  const found = await query(sql).rows<HeldCard>`select line, source_id, display_name, card_type_key, action,
      (select coalesce(jsonb_agg(h.payload), '[]') from migration_records h
       where h.migration_id = r.migration_id and h.source_line = r.line and h.entity_kind = 'subscription'
         and h.action = 'create') as holders
     from migration_records r where migration_id = ${migrationId} and line = any(${lines}::integer[])`;
  return new Map(found.map((card) => [card.line, card]));
}

/** The relation type that a row names by its key, or by its label if that is unique. */
function relationTypeOf(
  { ctx: { metamodel }, labels }: Staging,
  { target, named }: OtherRow,
): RelationType | undefined {
  if (target.kind !== 'relation') return undefined;
  if (target.type) return target.type;
  const given = textOf(named, 'relation_type');
  const text = fold(given);
  if (text === '') return undefined;
  const found = labels.relations.type(given);
  if (found) return metamodel.relationTypes.get(found);
  const types = metamodel.visibleRelationTypes.map((key) => metamodel.relationTypes.get(key)!);
  const labelled = types.filter(({ label }) => fold(label) === text);
  return types.find(({ key }) => fold(key) === text) ?? (labelled.length === 1 ? labelled[0] : undefined);
}

/** The card type of a reference: that of the relation type, else the one that the row names; null for any type. */
function typeOfReference(staging: Staging, row: OtherRow, reference: CardReference): string | null {
  const relation = relationTypeOf(staging, row);
  if (relation) {
    const isReversed = row.target.kind === 'relation' && row.target.reversed;
    return (reference === 'source') === isReversed ? relation.target_type_key : relation.source_type_key;
  }
  const given = row.named.get(`${reference}_type`)?.cell;
  return given === undefined ? null : (staging.cardTypeOf(given) ?? null);
}

/** The cards that a row names, and why it cannot name them. */
interface Referred {
  refs: Reference[];
  errors: string[];
}

/** The references of a row to cards, by the end of its record that each card is. */
function referTo(
  staging: Staging,
  row: OtherRow,
  sides: Partial<Record<CardReference, Reference['side']>>,
): Referred {
  const typesInFile = [...new Set([...staging.mapped.values()].flatMap(({ type }) => type?.key ?? []))];
  const refs: Reference[] = [];
  const errors: string[] = [];
  for (const [field, side] of Object.entries(sides) as [CardReference, Reference['side']][]) {
    const text = textOf(row.named, field);
    const given = textOf(row.named, `${field}_type`);
    const type = typeOfReference(staging, row, field);
    if (text === '') errors.push(`${field}: is missing`);
    else if (type === null && given !== '') errors.push(`${field}_type: ${quoted(given)} is no card type`);
    else refs.push({ side, types: type === null ? typesInFile : [type], text, field });
  }
  return { refs, errors };
}

/** The record of a row before its values are looked at. */
function newRecord(
  { staging }: StagingLookups,
  { row, named }: OtherRow,
  entity_kind: NewRecord['entity_kind'],
  display_name: string,
): NewRecord {
  const { archived, left_out } = statusOf(named);
  return {
    ...sourcePlace(row),
    line: staging.nextLine(),
    entity_kind,
    display_name,
    source_id: row.cells.id ?? `${row.sheet}:${row.row}`,
    left_out: omittedValues(left_out),
    ...(archived && { action: 'skip', error_message: ARCHIVED }),
  };
}

const conflict = (record: NewRecord, ...errors: (string | undefined)[]): NewRecord => ({
  ...record,
  action: 'conflict',
  error_message: errors.filter(Boolean).join('; '),
});

/** A record with the values of its row, or a conflict if the row is unusable. */
function complete(
  record: NewRecord,
  { refs, errors }: Referred,
  { payload, left_out, error }: Converted,
): NewRecord {
  const referring = { ...record, refs };
  if (error !== undefined || errors.length > 0) return conflict(referring, ...errors, error);
  const set = Object.entries(payload ?? {}).filter(([, value]) => value !== null);
  const diff = Object.fromEntries(set.map(([key, value]) => [key, { old: null, new: value }]));
  return { ...referring, payload, diff, left_out: omittedValues([...(record.left_out ?? []), ...left_out]) };
}

type Converter = (around: StagingLookups, row: OtherRow) => NewRecord[];

const converters: Record<RecordTarget['kind'], Converter> = {
  relation: (around, row) => [relationRecord(around, row)],
  parent: (around, row) => [parentRecord(around, row)],
  document(around, row) {
    const record = newRecord(around, row, 'document', textOf(row.named, 'name') || textOf(row.named, 'url'));
    if (record.action) return [record];
    const card = referTo(around.staging, row, { card: 'source' });
    return [complete(record, card, convertDocument(row.named, around.linkTypes))];
  },
  comment: commentRecords,
  subscription: subscriptionRecords,
};

const joined = ({ named }: OtherRow) => `${textOf(named, 'source')} → ${textOf(named, 'target')}`;

function relationRecord(around: StagingLookups, row: OtherRow): NewRecord {
  const record = newRecord(around, row, 'relation', joined(row));
  if (record.action) return record;
  const type = relationTypeOf(around.staging, row);
  if (!type)
    return conflict(
      record,
      `relation_type: ${quoted(textOf(row.named, 'relation_type'))} is no relation type`,
    );
  const isReversed = row.target.kind === 'relation' && row.target.reversed;
  const [source, target] = isReversed ? (['target', 'source'] as const) : (['source', 'target'] as const);
  const ends = referTo(around.staging, row, { source, target });
  const converted = convertRelation(row.named, type, around.staging);
  // the preview compares it with the stored relation
  return { ...complete({ ...record, relation_type: type.key }, ends, converted), diff: null };
}

/** The record of a row that names the parent of a card. */
function parentRecord(around: StagingLookups, row: OtherRow): NewRecord {
  const record = newRecord(around, row, 'relation', joined(row));
  if (record.action) return record;
  const { refs, errors } = referTo(around.staging, row, { source: 'source', target: 'target' });
  if (errors.length > 0) return conflict({ ...record, refs }, ...errors);
  return { ...record, action: 'skip', error_message: 'is applied as the parent of its card', refs };
}

const none: Referred = { refs: [], errors: [] };

/** The records of a comment and of the reply to it. */
function commentRecords(around: StagingLookups, row: OtherRow): NewRecord[] {
  const records: NewRecord[] = [];
  for (const prefix of ['', 'reply.'] as const) {
    const made = convertComment(row.named, prefix, around.users, around.now);
    if (!made) continue;
    const name = `${textOf(row.named, 'card')}: ${textOf(row.named, `${prefix}content`)}`;
    const record = newRecord(around, row, 'comment', name.replace(/\s+/g, ' '));
    const [parent] = records;
    if (record.action) records.push(record);
    else if (parent?.action) records.push({ ...record, action: parent.action, error_message: NO_PARENT });
    // a reply gets the card of its comment
    else if (parent) records.push({ ...complete(record, none, made), refs: null, target_line: parent.line });
    else records.push(complete(record, referTo(around.staging, row, { card: 'source' }), made));
  }
  return records;
}

/** Why a reply is not imported. */
export const NO_PARENT = 'the comment that it replies to is not imported';

/**
 * Adds the people of a row to the stakeholders of a card of the file, which are written with the card. Nobody gets an
 * account: addresses without one are conflicts.
 */
function subscriptionRecords(around: StagingLookups, row: OtherRow): NewRecord[] {
  const { staging, users, cards } = around;
  const { named } = row;
  const name = `${textOf(named, 'card')}: ${textOf(named, 'role')} ${textOf(named, 'person')}`;
  const record = newRecord(around, row, 'subscription', name);
  if (record.action) return [record];
  const people = peopleOf(named);
  const { refs, errors } = referTo(staging, row, { card: 'source' });
  const found: Found = refs[0] ? around.find(refs[0]) : { error: errors.join() };
  if (found.error !== undefined) return [conflict(record, found.error)];
  if (people.length === 0) return [conflict(record, 'person: contains no e-mail address')];
  const card = cards.get(found.line ?? 0);
  if (!card) return [conflict(record, 'card: is no card of the file, and only those get people')];
  if (card.action !== 'create') return [{ ...record, action: 'skip', error_message: 'its card is left out' }];
  const given = [textOf(named, 'role_type'), textOf(named, 'role')].filter(Boolean).join(':');
  const type = staging.ctx.metamodel.cardTypes.get(card.card_type_key!)!;
  const role = roleOf(type, given);
  if (role === undefined) {
    const why = given === '' ? 'is missing' : `${quoted(given)} is no role on cards of the type ${type.key}`;
    return [conflict(record, `role: ${why}`)];
  }
  const records = people.flatMap((email): NewRecord[] => {
    const user_id = users.get(email);
    if (user_id && card.holders.some((one) => one.user_id === user_id && one.role === role)) {
      const line = staging.nextLine();
      return [{ ...record, line, source_line: card.line, action: 'skip', error_message: DUPLICATE }];
    }
    if (user_id) card.holders.push({ user_id, role });
    return [stakeholderRecord(staging, sourcePlace(row.row), card, { role, email, user_id })];
  });
  return records.map((one) => ({ ...one, left_out: record.left_out }));
}

/** Why a record is skipped that another record equals. */
export const DUPLICATE = 'another row has the same content';
