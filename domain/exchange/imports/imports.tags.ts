import { query, type Sql, type Transaction } from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';
import { cleanName } from '../../../platform/storable.ts';
import { checkLine } from '../../inventory/cards/rules/values.ts';
import { nearestOf, shortened, unknownChoice } from '../../kernel/choices.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { MAX_TAG_NAME } from '../../kernel/metamodel/metamodel.model.ts';
import { type TagName, writeTag } from '../../kernel/transfer/csv-cells.ts';
import type { NewTag, RowWarning, StagedCard } from './imports.cards.types.ts';

interface TagGroup {
  id: string;
  name: string;
  single: boolean;
  mandatory: boolean;
  types: ReadonlySet<string> | null;
  /** Ids by folded name. */
  tags: ReadonlyMap<string, string>;
  /** The names of the tags as they are written. */
  names: readonly string[];
}

/** The tag groups by folded name. */
export type TagCatalogue = ReadonlyMap<string, TagGroup>;

const fold = (name: string) => name.toLowerCase();

/** Reads all tags that rows can name. */
export async function readTagCatalogue(sql: Sql): Promise<TagCatalogue> {
  const rows = await query(sql).rows<{
    id: string;
    name: string;
    mode: string;
    mandatory: boolean;
    types: string[] | null;
    tags: [string, string][];
  }>`select g.id, g.name, g.mode, g.mandatory, g.restrict_to_types as types,
       (select coalesce(jsonb_agg(jsonb_build_array(t.name, t.id)), '[]') from tags t
       where t.tag_group_id = g.id) as tags
     from tag_groups g`;
  return new Map(
    rows.map(({ mode, types, tags, ...group }) => [
      fold(group.name),
      {
        ...group,
        single: mode === 'single',
        types: types && new Set(types),
        tags: new Map(tags.map(([name, id]) => [fold(name), id])),
        names: tags.map(([name]) => name),
      },
    ]),
  );
}

/** The maximum number of tags that one import creates: a wrong column has more values. */
const MOST_CREATED = 1_000;

/** The tags that an import creates, by group and folded name. */
export type TagsToCreate = Map<string, { tag: NewTag; warning?: RowWarning }>;

/** The tags of a row. */
interface ResolvedTags {
  ids: string[];
  created: NewTag[];
  errors: FieldError[];
  warnings: RowWarning[];
}

/**
 * The ids of the tags that a row names, or its errors; names are compared case-insensitively.
 * @param creating if given, missing tags of known groups are added to it and returned as `created`.
 */
export function resolveTags(
  catalogue: TagCatalogue,
  type: CardType,
  tags: TagName[],
  creating?: TagsToCreate,
): ResolvedTags {
  const found: ResolvedTags = { ids: [], created: [], errors: [], warnings: [] };
  const named = new Map<TagGroup, Set<string>>();
  for (const tag of tags) {
    const group = catalogue.get(fold(tag.group));
    const id = group?.tags.get(fold(tag.name));
    const refused =
      !group || (!id && !creating)
        ? unknownTag(catalogue, type, tag, group, creating !== undefined)
        : refusedTag(group, type, tag, named.get(group));
    if (refused) {
      found.errors.push(refused);
      continue;
    }
    const names = named.get(group!) ?? new Set();
    if (names.has(fold(tag.name))) continue;
    named.set(group!, names.add(fold(tag.name)));
    if (id) found.ids.push(id);
    else create(group!, tag, creating!, found);
  }
  return found;
}

/** The error of a tag or group that does not exist. */
function unknownTag(
  catalogue: TagCatalogue,
  { key }: CardType,
  tag: TagName,
  group: TagGroup | undefined,
  isCreating: boolean,
): FieldError {
  const allowed = [...catalogue.values()].filter(({ types }) => !types || types.has(key));
  const error = { field: 'tags', code: 'unknown_tag', message: `there is no tag ${writeTag(tag)}` };
  if (!group && isCreating) {
    const message = `there is no tag group ${tag.group}`;
    return unknownChoice(
      { ...error, message },
      tag.group,
      allowed.map(({ name }) => name),
    );
  }
  // the tags of the group that is named, of all groups only if there is none
  const names = (group ? [group] : allowed).flatMap(({ name, names }) =>
    names.map((tag) => writeTag({ group: name, name: tag })),
  );
  return unknownChoice(error, writeTag(tag), names);
}

/** The error of a tag that the card cannot have. @param named the folded names of other tags of the group. */
function refusedTag(
  group: TagGroup,
  type: CardType,
  tag: TagName,
  named: ReadonlySet<string> | undefined,
): FieldError | undefined {
  const refuse = (code: string, message: string) => ({
    field: 'tags',
    code,
    message,
    value: shortened(writeTag(tag)),
  });
  if (group.types && !group.types.has(type.key)) {
    return refuse('tag_not_allowed', `the tags of ${group.name} are not for cards of the type ${type.key}`);
  }
  if (group.single && named && !named.has(fold(tag.name))) {
    return refuse('single_tag', `a card has at most one tag of ${group.name}`);
  }
  return undefined;
}

/** Adds a missing tag to those that are created. */
function create(group: TagGroup, { name }: TagName, creating: TagsToCreate, found: ResolvedTags): void {
  const key = `${group.id} ${fold(name)}`;
  let entry = creating.get(key);
  if (!entry) {
    const error = refusedName(group, name, creating.size);
    if (error) {
      found.errors.push(error);
      return;
    }
    const tag = { group_id: group.id, group: group.name, name: cleanName(name) };
    entry = { tag, warning: similarTag(group, tag) };
    creating.set(key, entry);
  }
  found.created.push(entry.tag);
  if (entry.warning) found.warnings.push(entry.warning);
}

function refusedName(group: TagGroup, name: string, created: number): FieldError | undefined {
  const value = shortened(writeTag({ group: group.name, name }));
  const wrong = checkLine('tags', name, MAX_TAG_NAME);
  if (wrong) return { ...wrong, value };
  if (created >= MOST_CREATED) {
    const message = `one import creates at most ${MOST_CREATED} tags`;
    return { field: 'tags', code: 'too_many_tags', message, value };
  }
  // its first tag changes the data quality of all cards, which only a change of the catalogue computes
  if (group.mandatory && group.names.length === 0) {
    const message = `${group.name} is mandatory and has no tags yet: create its first tag before the import`;
    return { field: 'tags', code: 'unknown_tag', message, value };
  }
  return undefined;
}

/** The warning of a new tag that is written like an existing one of its group. */
function similarTag(group: TagGroup, { name }: NewTag): RowWarning | undefined {
  const nearest = nearestOf(name, group.names);
  if (nearest === undefined) return undefined;
  const named = (tag: string) => writeTag({ group: group.name, name: tag });
  return {
    ...{ field: 'tags', code: 'similar_tag', value: shortened(named(name)), nearest: named(nearest) },
    message: `the tag is new, and ${named(nearest)} exists`,
  };
}

/** Stores the warnings of rows that are staged. */
export async function storeRowWarnings(
  sql: Transaction,
  jobId: string,
  rows: readonly Pick<StagedCard, 'line' | 'payload' | 'warnings'>[],
): Promise<void> {
  const warned = rows.filter(({ warnings, payload }) => payload && warnings?.length);
  if (warned.length === 0) return;
  await query(sql).run`insert into import_warnings (job_id, line, warnings)
    select ${jobId}::uuid, v.line, v.warnings
    from jsonb_to_recordset(${JSON.stringify(warned)}::jsonb) as v (line integer, warnings jsonb)`;
}

/** The number of tags in the job's result. */
const MOST_NAMED = 100;

/** The tags that the written rows of an import have created, or of a dry run would have. */
export async function createdTags(
  sql: Sql,
  jobId: string,
): Promise<{ total: number; items: { group: string; name: string }[] }> {
  const items = await query(sql).rows<{ group: string; name: string; total: number }>`
    select n.group, min(n.name) as name, count(*) over ()::int as total
    from import_outcomes o, jsonb_to_recordset(o.created_tags) as n ("group" text, name text)
    where o.job_id = ${jobId} and o.outcome in ('created', 'updated')
    group by n.group, lower(n.name) order by 1, 2 limit ${MOST_NAMED}`;
  return { total: items[0]?.total ?? 0, items: items.map(({ group, name }) => ({ group, name })) };
}
