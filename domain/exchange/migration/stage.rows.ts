import type { Knex } from 'knex';
import { query, type Sql } from '../../../platform/database.ts';
import type { RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
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
import { type CardReference, type RecordTarget, referencesOf } from './record-kinds.ts';
import { fold, type SourceRow } from './source.types.ts';
import { endColumns, type Found, lookUpCards } from './stage.lookup.ts';
import {
  ARCHIVED,
  insertRecords,
  type NewRecord,
  omittedValues,
  type Staging,
  sourcePlace,
  stakeholderRecords,
} from './staging.ts';

/** A row that is no card, with its cells by mapping target. */
interface OtherRow {
  row: SourceRow;
  target: RecordTarget;
  named: Named;
}

/** A card of the file that gets stakeholders. */
interface HeldCard extends NewRecord {
  holders: { user_id: string; role: string }[];
  added: { user_id: string; role: string }[];
}

interface StagingLookups {
  staging: Staging;
  linkTypes: ReadonlyMap<string, string>;
  /** User ids by address in lower case. */
  users: ReadonlyMap<string, string>;
  now: Date;
  find(row: OtherRow, reference: CardReference): Found;
  /** Cards of the file that rows give stakeholders, by line. */
  cards: ReadonlyMap<number, HeldCard>;
}

/** Creates the records of rows that are no cards, after those of all cards of the file. */
export async function stageOthers(staging: Staging, sql: Knex.Transaction, rows: SourceRow[]): Promise<void> {
  const others = rows.flatMap((row): OtherRow[] => {
    const block = staging.mapped.get(row.native_type)!;
    return [{ row, target: block.target as RecordTarget, named: namedCells(block, row) }];
  });
  const find = await findCards(staging, sql, others);
  const people = others.filter(({ target }) => target.kind === 'subscription');
  const addresses = others.flatMap(({ named }) => [
    ...peopleOf(named),
    ...(['', 'reply.'] as const).flatMap((prefix) => authorOf(named, prefix) ?? []),
  ]);
  const around: StagingLookups = {
    staging,
    linkTypes: await readLinkTypes(sql),
    users: await readUserIds(sql, addresses),
    now: new Date(),
    find,
    cards: await readHeldCards(
      staging,
      sql,
      people.flatMap((row) => find(row, 'card').line ?? []),
    ),
  };
  const records = others.flatMap((other) => converters[other.target.kind](around, other));
  await insertRecords(sql, staging.migration.id, records);
  const added = [...around.cards.values()].filter((card) => card.added.length > 0);
  await query(sql).run`update migration_records r
     set refs = jsonb_set(coalesce(r.refs, '{}'), '{holders}',
     coalesce(r.refs -> 'holders', '[]') || v.holders)
     from jsonb_to_recordset(${JSON.stringify(added.map((card) => ({ line: card.line, holders: card.added })))}::jsonb) as v(line integer, holders jsonb)
     where r.migration_id = ${staging.migration.id} and r.line = v.line`;
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
  { migration }: Staging,
  sql: Knex.Transaction,
  lines: number[],
): Promise<Map<number, HeldCard>> {
  const found = await query(sql).rows<Omit<HeldCard, 'added'>>`select line, source_id, display_name,
    card_type_key, action, coalesce(refs -> 'holders', '[]') as holders
     from migration_records where migration_id = ${migration.id} and line = any(${lines}::integer[])`;
  return new Map(found.map((card) => [card.line, { ...card, added: [] }]));
}

/** The relation type that a row names by its key, or by its label if that is unique. */
function relationTypeOf(
  { ctx: { metamodel } }: Staging,
  { target, named }: OtherRow,
): RelationType | undefined {
  if (target.kind !== 'relation') return undefined;
  if (target.type) return target.type;
  const text = fold(textOf(named, 'relation_type'));
  if (text === '') return undefined;
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

/** Looks up the cards that rows refer to. */
async function findCards(
  staging: Staging,
  sql: Knex.Transaction,
  rows: OtherRow[],
): Promise<StagingLookups['find']> {
  const typesInFile = [...new Set([...staging.mapped.values()].flatMap(({ type }) => type?.key ?? []))];
  const wanted = rows.flatMap((row) =>
    referencesOf(row.target).flatMap((reference) => {
      const type = typeOfReference(staging, row, reference);
      const text = textOf(row.named, reference);
      return (type === null ? typesInFile : [type]).map((key) => ({ type: key, text }));
    }),
  );
  const lookup = await lookUpCards(sql, staging.migration.id, wanted);

  const ofAnyType = (text: string): Found => {
    const all = typesInFile.map((key) => lookup(key, text));
    const hits = all.filter(({ error }) => error === undefined);
    if (hits.length === 1) return hits[0]!;
    if (hits.length > 1)
      return { error: 'cards of several types have this name; a column has to name the type' };
    return (
      all.find(({ error }) => error!.startsWith('several')) ?? {
        error: 'there is no such card, neither in the file nor in the inventory',
      }
    );
  };
  return (row, reference) => {
    const text = textOf(row.named, reference);
    const given = textOf(row.named, `${reference}_type`);
    const type = typeOfReference(staging, row, reference);
    if (text === '') return { error: `${reference}: is missing` };
    if (type === null && given !== '')
      return { error: `${reference}_type: ${quoted(given)} is no card type` };
    const found = type === null ? ofAnyType(text) : lookup(type, text);
    return found.error === undefined ? found : { error: `${reference}: ${quoted(text)}: ${found.error}` };
  };
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

/** A record with the values of its row, or a conflict if the row or its card is unusable. */
function complete(record: NewRecord, card: Found, { payload, left_out, error }: Converted): NewRecord {
  if (error !== undefined || card.error !== undefined) return conflict(record, card.error, error);
  const set = Object.entries(payload!).filter(([, value]) => value !== null);
  return {
    ...record,
    payload,
    diff: Object.fromEntries(set.map(([key, value]) => [key, { old: null, new: value }])),
    left_out: omittedValues([...(record.left_out ?? []), ...left_out]),
    ...endColumns(card),
  };
}

type Converter = (around: StagingLookups, row: OtherRow) => NewRecord[];

const converters: Record<RecordTarget['kind'], Converter> = {
  relation: (around, row) => [relationRecord(around, row)],
  parent: (around, row) => [parentRecord(around, row)],
  document(around, row) {
    const record = newRecord(around, row, 'document', textOf(row.named, 'name') || textOf(row.named, 'url'));
    if (record.action) return [record];
    return [complete(record, around.find(row, 'card'), convertDocument(row.named, around.linkTypes))];
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
  const ends = [around.find(row, 'source'), around.find(row, 'target')] as const;
  const typed = { ...record, relation_type: type.key };
  if (ends[0].error ?? ends[1].error) return conflict(typed, ends[0].error, ends[1].error);
  const [source, target] = row.target.kind === 'relation' && row.target.reversed ? [ends[1], ends[0]] : ends;
  const { payload, left_out } = convertRelation(row.named, type, around.staging.seesCosts);
  return {
    ...typed,
    payload,
    left_out: omittedValues([...(record.left_out ?? []), ...left_out]),
    ...endColumns(source, target),
  };
}

function parentRecord(around: StagingLookups, row: OtherRow): NewRecord {
  const record = newRecord(around, row, 'relation', joined(row));
  if (record.action) return record;
  const [child, parent] = [around.find(row, 'source'), around.find(row, 'target')];
  if (child.error ?? parent.error) return conflict(record, child.error, parent.error);
  if (child.line === undefined)
    return conflict(record, 'source: is no card of the file, and only those are moved');
  return {
    ...record,
    action: 'skip',
    error_message: 'is applied as the parent of its card',
    source_line: child.line,
    payload: { parent: textOf(row.named, 'target') },
  };
}

function commentRecords(around: StagingLookups, row: OtherRow): NewRecord[] {
  const card = around.find(row, 'card');
  const records: NewRecord[] = [];
  for (const prefix of ['', 'reply.'] as const) {
    const made = convertComment(row.named, prefix, around.users, around.now);
    if (!made) continue;
    const name = `${textOf(row.named, 'card')}: ${textOf(row.named, `${prefix}content`)}`;
    const record = newRecord(around, row, 'comment', name.replace(/\s+/g, ' '));
    const [parent] = records;
    if (record.action) records.push(record);
    else if (parent?.action) records.push({ ...record, action: parent.action, error_message: NO_PARENT });
    else records.push({ ...complete(record, card, made), target_line: parent?.line ?? null });
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
  const found = around.find(row, 'card');
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
    if (user_id) {
      card.holders.push({ user_id, role });
      card.added.push({ user_id, role });
    }
    return stakeholderRecords(staging, sourcePlace(row.row), card, { role, email, user_id });
  });
  return records.map((one) => ({ ...one, left_out: record.left_out }));
}

/** Why a record is skipped that another record equals. */
export const DUPLICATE = 'another row has the same content';
