import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { readUserIds, type TagCatalogue } from '../imports/imports.people.ts';
import { type CardRefs, type ConvertedRow, convertRow, type NamedTag } from './convert.ts';
import { MAX_TAG, relationOf } from './mapping.targets.ts';
import type { MappedBlock } from './mapping.ts';
import type { SourceRow } from './source.types.ts';
import { endColumns, lookUpCards } from './stage.lookup.ts';
import {
  ARCHIVED,
  insertRecords,
  type NewRecord,
  omittedValues,
  type Staging,
  sourcePlace,
  stakeholderRecords,
} from './staging.ts';

/** The group of tags that come without one, unless exactly one group has a tag of the name. */
const OTHER_TAGS = 'Other tags';

/** The references of a card as its record stores them: tags and stakeholders are resolved. */
export interface StoredRefs extends Pick<CardRefs, 'parent' | 'relations'> {
  tags?: { group: string; name: string }[];
  holders?: { user_id: string; role: string }[];
}

/** Creates the records of rows that are cards: the cards, their tags and their stakeholders. */
export async function stageCards(staging: Staging, sql: Knex.Transaction, rows: SourceRow[]): Promise<void> {
  const converted = rows.map((row) => {
    const block = staging.mapped.get(row.native_type)!;
    const type = block.type!;
    const card = convertRow({ ...block, type }, row, staging.seesCosts, staging.ctx.metamodel.relationTypes);
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
    return [
      {
        ...base,
        action: 'skip',
        error_message: 'adds relations to the card of an earlier row',
        refs: { relations: card.refs.relations } satisfies StoredRefs,
        source_line: first,
      },
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
  const refs: StoredRefs = { parent, relations };
  const { source_type, sheet, row, source_id, card_type_key, line } = base;
  const place = { source_type, sheet, row };

  const people = holders.flatMap(({ role, email }) => {
    const user_id = users.get(email.toLowerCase());
    if (user_id) refs.holders = [...(refs.holders ?? []), { user_id, role }];
    return stakeholderRecords(staging, place, base, { role, email, user_id });
  });
  const singles = new Set<string>();
  const tagging = tags.flatMap((named): NewRecord[] => {
    const tag = resolveTag(staging.catalogue, named);
    const error = tagError(staging.catalogue, type, tag, singles);
    if (!error) refs.tags = [...(refs.tags ?? []), tag];
    const tagged: NewRecord = {
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
    return [...(error ? [] : missingTags(staging, tag).map((made) => ({ ...place, ...made }))), tagged];
  });
  return [{ ...base, payload: card.payload, refs }, ...people, ...tagging];
}

/** Records of a tag and its group, if they do not exist and have none yet. */
function missingTags(
  { catalogue, isFirst, nextLine }: Staging,
  { group, name }: { group: string; name: string },
) {
  const stored = catalogue.get(group.toLowerCase());
  const records: Omit<NewRecord, 'source_type'>[] = [];
  if (!stored && isFirst(`group ${group.toLowerCase()}`)) {
    records.push({ line: nextLine(), entity_kind: 'tag_group', source_id: group, display_name: group });
  }
  if (!stored?.tags.has(name.toLowerCase()) && isFirst(`tag ${group.toLowerCase()}\n${name.toLowerCase()}`)) {
    const source_id = `${group}/${name}`;
    records.push({
      line: nextLine(),
      entity_kind: 'tag',
      source_id,
      display_name: name,
      payload: { group, name },
    });
  }
  return records;
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
  if (tag.group.length > MAX_TAG || tag.name.length > MAX_TAG) return `has more than ${MAX_TAG} characters`;
  const group = catalogue.get(tag.group.toLowerCase());
  if (group?.types && !group.types.has(type.key)) {
    return `the tags of ${group.name} are not for cards of the type ${type.key}`;
  }
  if (group?.single && singles.has(group.name)) return `a card has at most one tag of ${group.name}`;
  singles.add(group?.name ?? '');
  return undefined;
}

/** A card whose row names related cards. */
interface RelatedCard {
  line: number;
  /** The record of the card: another one if the row only adds relations. */
  card_line: number;
  name: string | null;
  source_id: string;
  sheet: string;
  row: number;
  relations: NonNullable<CardRefs['relations']>;
}

/** SQL of the columns of {@link RelatedCard}. */
export const relatedCard = `line, coalesce(source_line, line) as card_line, display_name as name, source_id, sheet, "row",
  refs -> 'relations' as relations`;

/** Creates a record of each relation that the rows of cards name. */
export async function stageRelations(
  staging: Staging,
  sql: Knex.Transaction,
  cards: RelatedCard[],
): Promise<void> {
  const wanted = cards.flatMap((card) =>
    card.relations.flatMap((named) => {
      const relation = staging.ctx.metamodel.relationTypes.get(named.type);
      if (!relation) return [];
      const type = named.reversed ? relation.source_type_key : relation.target_type_key;
      return named.items.map((text) => ({ card, named, type, text }));
    }),
  );
  const lookup = await lookUpCards(sql, staging.migration.id, wanted);
  const records = wanted.map(({ card, named, type, text }): NewRecord => {
    const found = lookup(type, text);
    const self = { line: card.card_line };
    const own = card.name ?? card.source_id;
    return {
      line: staging.nextLine(),
      entity_kind: 'relation',
      source_id: `${card.source_id}:${named.column}:${text}`,
      source_type: named.column,
      display_name: named.reversed ? `${text} → ${own}` : `${own} → ${text}`,
      sheet: card.sheet,
      row: card.row,
      relation_type: named.type,
      payload: named.values ? { ...named.values } : null,
      action: found.error ? 'conflict' : 'create',
      error_message: found.error ? `${named.column}: “${text.slice(0, 200)}”: ${found.error}` : null,
      ...(named.reversed ? endColumns(found, self) : endColumns(self, found)),
    };
  });
  await insertRecords(sql, staging.migration.id, records);
}
