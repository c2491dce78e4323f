import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { readUserIds, type TagCatalogue } from '../imports/imports.people.ts';
import { type CardRefs, type ConvertedRow, convertRow, type NamedTag } from './convert.ts';
import { MAX_TAG, relationOf } from './mapping.targets.ts';
import type { MappedBlock } from './mapping.ts';
import { ARCHIVED, insertRecords, type NewRecord } from './records.ts';
import type { SourceRow } from './source.types.ts';
import { holderRecords, type PlacelessRecord, tellOnce } from './stage.holders.ts';
import type { Staging } from './stage.types.ts';

/** The group of tags that come without one, unless a tag of the name is there. */
const OTHER_TAGS = 'Other tags';

/** What the refs of a card hold once its people and tags are known. */
export interface StoredRefs {
  parent?: string;
  relations?: CardRefs['relations'];
  tags?: { group: string; name: string }[];
  holders?: { user_id: string; role: string }[];
}

/** Makes the records of some rows: a card each, its tags and its people, and those that they name first. */
export async function stageCards(staging: Staging, sql: Knex.Transaction, rows: SourceRow[]): Promise<void> {
  const seesCosts = may(staging.ctx.caller, 'costs.view');
  const converted = rows.flatMap((row) => {
    const block = staging.mapped.get(row.native_type);
    if (!block?.type) return [];
    const { type } = block;
    const card = convertRow({ ...block, type }, row, seesCosts, staging.ctx.metamodel.relationTypes);
    card.refs.tags &&= groupTags(staging.catalogue, card.refs.tags);
    if (staging.source === 'leanix') card.refs.tags &&= splitTags(staging.catalogue, card.refs.tags);
    return [{ row, type, card, first: firstRow(staging, block, row.line, card) }];
  });
  const emails = converted.flatMap(({ card }) => (card.refs.holders ?? []).map(({ email }) => email));
  const users = await readUserIds(sql, emails);
  const records = converted.flatMap(({ row, type, card, first }) =>
    first === row.line ? cardRecords(staging, row, type, card, users) : [furtherRow(row, type, card, first)],
  );
  await insertRecords(sql, staging.migrationId, records);
}

/** The line of the first row of the card that a row tells of: its own, unless it only adds a relation to that one. */
function firstRow({ firstRows }: Staging, block: MappedBlock, line: number, card: ConvertedRow): number {
  const hasParts = [...block.columns.values()].some((target) => relationOf(target)?.part !== undefined);
  const id = card.payload.external_id;
  if (!hasParts || typeof id !== 'string') return line;
  const key = `${card.payload.type} ${id.toLowerCase()}`;
  const { relations: _, ...refs } = card.refs;
  const says = createHash('sha256')
    .update(JSON.stringify([card.payload, refs]))
    .digest('base64');
  const first = firstRows.get(key);
  if (!first || first.line >= line) {
    firstRows.set(key, { line, says });
    return line;
  }
  return first.says === says ? first.line : line;
}

/** A row that says of a card what an earlier one said, and names further relations. */
function furtherRow(row: SourceRow, type: CardType, card: ConvertedRow, first: number): NewRecord {
  return {
    line: row.line,
    entity_kind: 'card',
    source_type: row.native_type,
    source_id: card.source_id,
    card_type_key: type.key,
    sheet: row.sheet,
    row: row.row,
    action: 'skip',
    error_message: 'tells further relations of a card that an earlier row has told',
    left_out: card.left_out.length > 0 ? card.left_out : null,
    refs: { relations: card.refs.relations } satisfies StoredRefs,
    source_line: first,
  };
}

/** Reads `Group/Tag` as that where there is such a group, and else as the name of a tag. */
function groupTags(catalogue: TagCatalogue, tags: readonly NamedTag[]): NamedTag[] {
  return tags.map(({ perhaps, ...tag }) =>
    perhaps && catalogue.has(perhaps.group.toLowerCase()) ? perhaps : tag,
  );
}

/** A snapshot puts commas between tags: names that are no tags are taken apart there. */
function splitTags(catalogue: TagCatalogue, tags: readonly NamedTag[]): NamedTag[] {
  const known = ({ group, name }: NamedTag): boolean =>
    group === null
      ? [...catalogue.values()].some(({ tags: own }) => own.has(name.toLowerCase()))
      : (catalogue.get(group.toLowerCase())?.tags.has(name.toLowerCase()) ?? false);
  return tags.flatMap((tag) =>
    known(tag)
      ? [tag]
      : tag.name
          .split(',')
          .map((name) => ({ group: tag.group, name: name.trim() }))
          .filter(({ name }) => name !== ''),
  );
}

function cardRecords(
  staging: Staging,
  row: SourceRow,
  type: CardType,
  card: ConvertedRow,
  users: ReadonlyMap<string, string>,
): NewRecord[] {
  const { line, sheet, row: number, native_type } = row;
  const place = { source_type: native_type, sheet, row: number };
  const base: NewRecord = {
    ...place,
    line,
    entity_kind: 'card',
    source_id: card.source_id,
    card_type_key: type.key,
    display_name: card.name,
    path: card.path,
    left_out: card.left_out.length > 0 ? card.left_out : null,
  };
  if (card.archived && !staging.includeArchived) {
    return [{ ...base, action: 'skip', error_message: ARCHIVED }];
  }
  if (card.name.trim() === '') {
    return [{ ...base, action: 'conflict', error_message: 'name: is missing' }];
  }
  const { parent, relations, holders = [], tags = [] } = card.refs;
  const refs: StoredRefs = { parent, relations };
  const around: NewRecord[] = [];
  const next = (record: PlacelessRecord): void => {
    around.push({ ...place, ...record, line: staging.nextLine });
    staging.nextLine += 1;
  };
  const once = (key: string): boolean => tellOnce(staging, key);

  const person = { source_id: card.source_id, display_name: card.name, card_type_key: type.key, line };
  for (const { role, email } of holders) {
    const user_id = users.get(email.toLowerCase());
    if (user_id) refs.holders = [...(refs.holders ?? []), { user_id, role }];
    for (const record of holderRecords(staging, person, { role, email, user_id })) next(record);
  }

  const singles = new Set<string>();
  for (const named of tags) {
    const tag = resolveTag(staging.catalogue, named);
    const fault = tagFault(staging.catalogue, type, tag, singles);
    if (!fault) {
      const group = staging.catalogue.get(tag.group.toLowerCase());
      if (!group && once(`group ${tag.group.toLowerCase()}`)) {
        next({ entity_kind: 'tag_group', source_id: tag.group, display_name: tag.group });
      }
      const there = group?.tags.has(tag.name.toLowerCase());
      if (!there && once(`tag ${tag.group.toLowerCase()}\n${tag.name.toLowerCase()}`)) {
        next({
          entity_kind: 'tag',
          source_id: `${tag.group}/${tag.name}`,
          display_name: tag.name,
          payload: { ...tag },
        });
      }
      refs.tags = [...(refs.tags ?? []), tag];
    }
    next({
      entity_kind: 'card_tag',
      source_id: `${card.source_id}:${tag.group}/${tag.name}`,
      display_name: `${card.name}: ${tag.group}/${tag.name}`,
      card_type_key: type.key,
      action: fault ? 'conflict' : 'create',
      error_message: fault ?? null,
      payload: { ...tag },
      source_line: line,
    });
  }
  return [{ ...base, payload: card.payload, refs }, ...around];
}

function resolveTag(catalogue: TagCatalogue, { group, name }: NamedTag): { group: string; name: string } {
  if (group !== null) return { group: catalogue.get(group.toLowerCase())?.name ?? group, name };
  const having = [...catalogue.values()].filter(({ tags }) => tags.has(name.toLowerCase()));
  return { group: having.length === 1 ? having[0]!.name : OTHER_TAGS, name };
}

function tagFault(
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
