import { createHash } from 'node:crypto';
import type { Transaction } from '../../../platform/database.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { MAX_TAG_NAME } from '../../kernel/metamodel/metamodel.model.ts';
import { readUserIds } from '../imports/imports.people.ts';
import type { TagCatalogue } from '../imports/imports.tags.ts';
import { type CardRefs, type ConvertedRow, convertRow } from './convert.ts';
import type { NamedTag } from './convert.values.ts';
import { relationOf } from './mapping.targets.ts';
import type { MappedBlock } from './mapping.ts';
import type { SourceRow } from './source.types.ts';
import type { Reference } from './stage.lookup.ts';
import {
  ARCHIVED,
  insertRecords,
  type NewRecord,
  omittedValues,
  type Staging,
  sourcePlace,
  stakeholderRecord,
} from './staging.ts';

/** The group of tags that come without one, unless exactly one group has a tag of the name. */
const OTHER_TAGS = 'Other tags';

/** Creates the records of rows that are cards: the cards, their tags, stakeholders and relations. */
export async function stageCards(staging: Staging, sql: Transaction, rows: SourceRow[]): Promise<void> {
  const { relationTypes } = staging.ctx.metamodel;
  const converted = rows.map((row) => {
    const block = staging.mapped.get(row.native_type)!;
    const type = block.type!;
    const card = convertRow({ ...block, type }, row, { ...staging, relationTypes });
    card.refs.tags &&= resolveGroups(staging, card.refs.tags);
    return { row, type, card, first: firstRow(staging, block, row.line, card) };
  });
  const emails = converted.flatMap(({ card }) => (card.refs.holders ?? []).map(({ email }) => email));
  const users = await readUserIds(sql, emails);
  const records = converted.flatMap(({ row, type, card, first }): NewRecord[] => {
    const base: NewRecord = {
      ...sourcePlace(row),
      line: row.line,
      entity_kind: 'card',
      source_id: card.source_id,
      card_type_key: type.key,
      left_out: omittedValues(card.left_out),
    };
    if (first === row.line)
      return cardRecords(staging, { ...base, display_name: card.name, path: card.path }, type, card, users);
    // the row has the values of an earlier one, and further relations
    const error_message = 'adds relations to the card of an earlier row';
    return [
      { ...base, action: 'skip', error_message, source_line: first },
      ...relationRecords(staging, { ...base, line: first }, card.refs.relations),
    ];
  });
  await insertRecords(sql, staging.migration.id, records);
}

/** The line of the first row of a card: the row's own, unless the row only adds a relation to the card of an earlier one. */
function firstRow({ firstRows }: Staging, block: MappedBlock, line: number, card: ConvertedRow): number {
  const hasParts = [...block.columns.values()].some((target) => relationOf(target)?.part !== undefined);
  const id = card.payload.external_id;
  if (!hasParts || typeof id !== 'string') return line;
  const key = `${card.payload.type} ${id.toLowerCase()}`;
  const { relations: _, ...refs } = card.refs;
  const digest = createHash('sha256')
    .update(JSON.stringify([card.payload, refs]))
    .digest('base64');
  const first = firstRows.get(key);
  if (first && first.line < line) return first.digest === digest ? first.line : line;
  firstRows.set(key, { line, digest });
  return line;
}

/**
 * Reads `Group/Tag` as that if the group exists, else as the name of a tag. A snapshot has commas between tags, so there
 * names that are no tags are split at them.
 */
function resolveGroups({ catalogue, migration }: Staging, tags: readonly NamedTag[]): NamedTag[] {
  const exists = ({ group, name }: NamedTag): boolean =>
    group === null
      ? [...catalogue.values()].some(({ tags: own }) => own.has(name.toLowerCase()))
      : (catalogue.get(group.toLowerCase())?.tags.has(name.toLowerCase()) ?? false);
  return tags.flatMap(({ perhaps, ...named }) => {
    const tag = perhaps && catalogue.has(perhaps.group.toLowerCase()) ? perhaps : named;
    if (migration.source_type !== 'leanix' || exists(tag)) return [tag];
    const names = tag.name.split(',').map((name) => name.trim());
    return names.filter((name) => name !== '').map((name) => ({ group: tag.group, name }));
  });
}

function cardRecords(
  staging: Staging,
  base: NewRecord,
  type: CardType,
  card: ConvertedRow,
  users: ReadonlyMap<string, string>,
): NewRecord[] {
  if (card.archived && !staging.migration.include_archived) {
    return [{ ...base, action: 'skip', error_message: ARCHIVED }];
  }
  if (card.name.trim() === '') return [{ ...base, action: 'conflict', error_message: 'name: is missing' }];
  const { parent, relations, holders = [], tags = [] } = card.refs;
  const { source_type, sheet, row, source_id, card_type_key, line } = base;
  const place = { source_type, sheet, row };
  const people = holders.map(({ role, email }) =>
    stakeholderRecord(staging, place, base, { role, email, user_id: users.get(email.toLowerCase()) }),
  );
  const singles = new Set<string>();
  const tagging = tags.map((named): NewRecord => {
    const tag = resolveTag(staging.catalogue, named);
    const error = tagError(staging.catalogue, type, tag, singles);
    return {
      ...place,
      line: staging.nextLine(),
      entity_kind: 'card_tag',
      source_id: `${source_id}:${tag.group}/${tag.name}`,
      display_name: `${card.name}: ${tag.group}/${tag.name}`,
      card_type_key,
      action: error ? 'conflict' : 'create',
      error_message: error ?? null,
      payload: { ...tag },
      source_line: line,
    };
  });
  const refs: Reference[] | null =
    parent === undefined ? null : [{ side: 'target', types: [type.key], text: parent, field: 'parent' }];
  const record = { ...base, payload: card.payload, refs };
  return [record, ...people, ...tagging, ...relationRecords(staging, base, relations)];
}

/** A record of each relation that the row of a card names; the card at the other end is found later. */
function relationRecords(
  { ctx: { metamodel }, nextCellLine }: Staging,
  { line, source_id, display_name, sheet, row }: NewRecord,
  relations: CardRefs['relations'] = [],
): NewRecord[] {
  return relations.flatMap(({ type: key, reversed, column, items, values }) => {
    const type = metamodel.relationTypes.get(key);
    if (!type) return [];
    const [own, other] = reversed ? (['target', 'source'] as const) : (['source', 'target'] as const);
    return items.map((text): NewRecord => {
      const ends = [display_name ?? source_id, text];
      return {
        line: nextCellLine(),
        entity_kind: 'relation',
        source_id: `${source_id}:${column}:${text}`,
        source_type: column,
        display_name: (reversed ? ends.reverse() : ends).join(' → '),
        sheet,
        row,
        relation_type: key,
        payload: values ? { ...values } : null,
        [`${own}_line`]: line,
        refs: [{ side: other, types: [type[`${other}_type_key`]], text, field: column }],
      };
    });
  });
}

function resolveTag(catalogue: TagCatalogue, { group, name }: NamedTag): { group: string; name: string } {
  if (group !== null) return { group: catalogue.get(group.toLowerCase())?.name ?? group, name };
  const having = [...catalogue.values()].filter(({ tags }) => tags.has(name.toLowerCase()));
  return { group: having.length === 1 ? having[0]!.name : OTHER_TAGS, name };
}

function tagError(
  catalogue: TagCatalogue,
  type: CardType,
  tag: { group: string; name: string },
  singles: Set<string>,
): string | undefined {
  if (tag.group.length > MAX_TAG_NAME || tag.name.length > MAX_TAG_NAME)
    return `has more than ${MAX_TAG_NAME} characters`;
  const group = catalogue.get(tag.group.toLowerCase());
  if (group?.types && !group.types.has(type.key)) {
    return `the tags of ${group.name} are not for cards of the type ${type.key}`;
  }
  if (group?.single && singles.has(group.name)) return `a card has at most one tag of ${group.name}`;
  singles.add(group?.name ?? '');
  return undefined;
}
