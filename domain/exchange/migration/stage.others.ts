import type { Knex } from 'knex';
import type { Sql } from '../../../platform/database.ts';
import { queryRows } from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';
import type { RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { readUserIds } from '../imports/imports.people.ts';
import {
  authorOf,
  convertComment,
  convertDocument,
  type Named,
  namedCells,
  relationValues,
  statusOf,
} from './convert.others.ts';
import { fold } from './fold.ts';
import type { Stands } from './mapping.stands.ts';
import { ARCHIVED, insertRecords, type NewRecord } from './records.ts';
import type { SourceRow } from './source.types.ts';
import { type Found, lookUp } from './stage.lookup.ts';
import { peopleOf, subscriptionRecords } from './stage.subscriptions.ts';
import type { Staging } from './stage.types.ts';

type Other = Exclude<Stands, { kind: 'card' }>;

/** A row that is no card, with what its cells are mapped to. */
interface OtherRow {
  row: SourceRow;
  stands: Other;
  named: Named;
}

/** The next rows behind the line that are no cards, but join them or hang on them. */
export async function othersBehind(
  staging: Staging,
  sql: Knex.Transaction,
  line: number,
  limit: number,
): Promise<SourceRow[]> {
  const natives = [...staging.mapped].filter(([, { stands }]) => stands && stands.kind !== 'card');
  if (natives.length === 0) return [];
  return await queryRows(
    sql,
    `select line, sheet, "row", native_type, cells from migration_rows
     where migration_id = ? and line > ? and native_type = any(?::text[]) order by line limit ${limit}`,
    [staging.migrationId, line, natives.map(([native]) => native)],
  );
}

/** Makes records of rows that are no cards. The cards of the file have theirs already. */
export async function stageOthers(staging: Staging, sql: Knex.Transaction, rows: SourceRow[]): Promise<void> {
  const others = rows.flatMap((row): OtherRow[] => {
    const block = staging.mapped.get(row.native_type);
    if (!block?.stands || block.stands.kind === 'card') return [];
    return [{ row, stands: block.stands, named: namedCells(block, row) }];
  });
  const finder = await createFinder(staging, sql, others);
  const around = {
    staging,
    finder,
    seesCosts: may(staging.ctx.caller, 'costs.view'),
    linkTypes: await linkTypes(sql),
    users: await readUserIds(sql, others.flatMap(authorsOf)),
    now: new Date(),
  };
  const people = others.filter(({ stands }) => stands.kind === 'subscription');
  const held = people.map((other) => ({
    record: { ...base(around, other, 'subscription'), display_name: shownOf(other) },
    named: other.named,
    found: meant(around, other, 'card'),
  }));
  const records = [
    ...others.flatMap((other) => recordsOf(around, other)),
    ...(held.length > 0 ? await subscriptionRecords(staging, sql, held, around.users) : []),
  ];
  await insertRecords(sql, staging.migrationId, records);
}

interface Around {
  staging: Staging;
  finder: Finder;
  seesCosts: boolean;
  linkTypes: ReadonlyMap<string, string>;
  users: ReadonlyMap<string, string>;
  now: Date;
}

const authorsOf = ({ named, stands }: OtherRow): string[] =>
  stands.kind === 'subscription'
    ? peopleOf(named)
    : (['', 'reply.'] as const).flatMap((prefix) => authorOf(named, prefix) ?? []);

/** How a row about somebody on a card is named as long as nothing better is known. */
const shownOf = ({ named }: OtherRow): string =>
  `${named.get('card')?.cell ?? ''}: ${named.get('role')?.cell ?? ''} ${named.get('person')?.cell ?? ''}`;

async function linkTypes(sql: Sql): Promise<Map<string, string>> {
  const rows: { key: string; label: string }[] = await sql('resource_types')
    .where({ kind: 'link_type', is_enabled: true })
    .orderBy(['sort_order', 'key'])
    .select('key', 'label');
  return new Map(rows.map(({ key, label }) => [key, label]));
}

/** Finds the cards that the cells of some rows mean, each text once. */
interface Finder {
  find(type: string | null, text: string): Found;
}

/** The end of a relation, or the card on which something hangs: of which type, as the row tells it, and by which text. */
function wanted(staging: Staging, { stands, named }: OtherRow, end: 'source' | 'target' | 'card'): Wanted {
  const text = named.get(end)?.cell ?? '';
  const told = named.get(`${end}_type`)?.cell;
  const relation = stands.kind === 'relation' ? (stands.type ?? relationNamed(staging, named)) : undefined;
  const fixed = relation && endOf(relation, end === 'source', stands.kind === 'relation' && stands.reversed);
  return { text, type: fixed ?? (told === undefined ? null : (staging.typeOf(told) ?? null)), told };
}
interface Wanted {
  text: string;
  type: string | null;
  told: string | undefined;
}

const endOf = (relation: RelationType, isSource: boolean, reversed: boolean): string =>
  isSource === reversed ? relation.target_type_key : relation.source_type_key;

/** The relation type that a row names by its key, or by its label where no other has that. */
function relationNamed({ ctx: { metamodel } }: Staging, named: Named): RelationType | undefined {
  const text = fold(named.get('relation_type')?.cell ?? '');
  if (text === '') return undefined;
  const types = metamodel.visibleRelationTypes.map((key) => metamodel.relationTypes.get(key)!);
  const labelled = types.filter(({ label }) => fold(label) === text);
  return types.find(({ key }) => fold(key) === text) ?? (labelled.length === 1 ? labelled[0] : undefined);
}

const endsOf = ({ stands }: OtherRow): ('source' | 'target' | 'card')[] =>
  stands.kind === 'relation' || stands.kind === 'parent' ? ['source', 'target'] : ['card'];

async function createFinder(staging: Staging, sql: Knex.Transaction, rows: OtherRow[]): Promise<Finder> {
  const inFile = [...new Set([...staging.mapped.values()].flatMap(({ type }) => type?.key ?? []))];
  const texts = new Map<string, Set<string>>();
  for (const row of rows) {
    for (const end of endsOf(row)) {
      const { text, type } = wanted(staging, row, end);
      // without a type it may be any that the file has
      for (const key of type === null ? inFile : [type]) {
        texts.set(key, (texts.get(key) ?? new Set()).add(text));
      }
    }
  }
  const found = new Map<string, Map<string, Found>>();
  for (const [type, own] of texts) found.set(type, await lookUp(sql, staging.migrationId, type, own));
  return {
    find(type, text) {
      if (type !== null) return found.get(type)!.get(text)!;
      const all = inFile.map((key) => found.get(key)!.get(text)!);
      const hits = all.filter((one) => !('fault' in one));
      if (hits.length === 1) return hits[0]!;
      if (hits.length > 1)
        return { fault: 'cards of several types are called so; a column has to tell the type' };
      // several of one type say so, else there is none
      const said = all.find((one) => 'fault' in one && one.fault.startsWith('several'));
      return said ?? { fault: 'there is no such card, neither in the file nor in the inventory' };
    },
  };
}

function recordsOf(around: Around, other: OtherRow): NewRecord[] {
  switch (other.stands.kind) {
    case 'relation':
    case 'parent':
      return [relationRecord(around, other)];
    case 'document':
      return [documentRecord(around, other)];
    case 'comment':
      return commentRecords(around, other);
    // together, since they stand beside one another on their cards
    case 'subscription':
      return [];
  }
}

type Ends = Pick<NewRecord, 'source_line' | 'source_card' | 'target_line' | 'target_card'>;

/** Where a row stands, and what it is until something speaks against it. */
function base({ staging }: Around, { row, named }: OtherRow, kind: NewRecord['entity_kind']): NewRecord {
  const line = staging.nextLine;
  staging.nextLine += 1;
  const { archived, left_out } = statusOf(named);
  return {
    line,
    entity_kind: kind,
    source_id: row.cells.id ?? `${row.sheet}:${row.row}`,
    source_type: row.native_type,
    sheet: row.sheet,
    row: row.row,
    left_out: left_out.length > 0 ? left_out : null,
    ...(archived ? { action: 'skip', error_message: ARCHIVED } : {}),
  };
}

/** What is left out of a row: of its status, and of its values. */
function together({ left_out }: NewRecord, more: FieldError[]): FieldError[] | null {
  const all = [...(left_out ?? []), ...more];
  return all.length > 0 ? all : null;
}

/** The card that an end of a row means, or why it means none. */
function meant({ staging, finder }: Around, other: OtherRow, end: 'source' | 'target' | 'card'): Found {
  const { text, type, told } = wanted(staging, other, end);
  if (text === '') return { fault: `${end}: is missing` };
  if (type === null && told !== undefined) {
    return { fault: `${end}_type: “${told.slice(0, 200)}” stands for no card type` };
  }
  const found = finder.find(type, text);
  return 'fault' in found ? { fault: `${end}: “${text.slice(0, 200)}”: ${found.fault}` } : found;
}

function relationRecord(around: Around, other: OtherRow): NewRecord {
  const { stands, named } = other;
  const record: NewRecord = {
    ...base(around, other, 'relation'),
    display_name: `${named.get('source')?.cell ?? ''} → ${named.get('target')?.cell ?? ''}`,
  };
  if (record.action) return record;
  const conflict = (message: string): NewRecord => ({
    ...record,
    action: 'conflict',
    error_message: message,
  });
  const ends = [meant(around, other, 'source'), meant(around, other, 'target')] as const;
  const faults = ends.flatMap((one) => ('fault' in one ? [one.fault] : []));
  if (stands.kind === 'parent') {
    if (faults.length > 0) return conflict(faults.join('; '));
    if (ends[0].line === undefined)
      return conflict('source: is no card of the file, and only those are moved');
    return {
      ...record,
      action: 'skip',
      error_message: 'goes with its card, as the parent',
      source_line: ends[0].line,
      payload: { parent: named.get('target')!.cell },
    };
  }
  const type = stands.kind === 'relation' ? (stands.type ?? relationNamed(around.staging, named)) : undefined;
  if (!type) {
    const text = named.get('relation_type')?.cell ?? '';
    return conflict(`relation_type: “${text.slice(0, 200)}” is no relation type`);
  }
  if (faults.length > 0) return { ...conflict(faults.join('; ')), relation_type: type.key };
  const reversed = stands.kind === 'relation' && stands.reversed;
  const [source, target] = reversed ? [ends[1], ends[0]] : ends;
  const { values, left_out } = relationValues(named, type, around.seesCosts);
  return {
    ...record,
    relation_type: type.key,
    payload: values && { ...values },
    left_out: together(record, left_out),
    ...endsAs(source, target),
  };
}

function endsAs(source: Found, target: Found): Ends {
  return {
    source_line: source.line ?? null,
    source_card: source.card ?? null,
    target_line: target.line ?? null,
    target_card: target.card ?? null,
  };
}

/** The card on which something hangs, as its record keeps it. */
const hangsOn = ({ line, card }: Found): Ends => ({ source_line: line ?? null, source_card: card ?? null });

function documentRecord(around: Around, other: OtherRow): NewRecord {
  const { named } = other;
  const record: NewRecord = {
    ...base(around, other, 'document'),
    display_name: named.get('name')?.cell ?? named.get('url')?.cell ?? '',
  };
  if (record.action) return record;
  const card = meant(around, other, 'card');
  const made = convertDocument(named, around.linkTypes);
  const faults = [card, made].flatMap((one) => ('fault' in one ? [one.fault] : []));
  if ('fault' in made || faults.length > 0) {
    return { ...record, action: 'conflict', error_message: faults.join('; ') };
  }
  return {
    ...record,
    payload: made.payload,
    diff: setting(made.payload),
    left_out: together(record, made.left_out),
    ...hangsOn(card),
  };
}

function commentRecords(around: Around, other: OtherRow): NewRecord[] {
  const { named } = other;
  const card = meant(around, other, 'card');
  const records: NewRecord[] = [];
  for (const prefix of ['', 'reply.'] as const) {
    const made = convertComment(named, prefix, around.users, around.now);
    if (!made) continue;
    const text = named.get(`${prefix}content`)?.cell ?? '';
    const record: NewRecord = {
      ...base(around, other, 'comment'),
      display_name: `${named.get('card')?.cell ?? ''}: ${text}`.replace(/\s+/g, ' '),
    };
    const parent = records[0];
    const faults = [card, made].flatMap((one) => ('fault' in one ? [one.fault] : []));
    if (parent?.action && !record.action) {
      const message = 'what it answers is not taken over';
      records.push({ ...record, action: parent.action, error_message: message });
    } else if (record.action) {
      records.push(record);
    } else if ('fault' in made || faults.length > 0) {
      records.push({ ...record, action: 'conflict', error_message: faults.join('; ') });
    } else {
      records.push({
        ...record,
        payload: { ...made.payload },
        diff: setting(made.payload),
        left_out: together(record, made.left_out),
        ...hangsOn(card),
        target_line: parent?.line ?? null,
      });
    }
  }
  return records;
}

const setting = (values: object) =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, { old: null, new: value }]),
  );
