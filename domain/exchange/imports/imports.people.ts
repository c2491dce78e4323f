import { query, type Sql } from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';
import { shortened, unknownChoice } from '../../kernel/choices.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import type { Stakeholding, TagName } from '../../kernel/transfer/csv-cells.ts';
import type { StagedHolder } from './imports.cards.types.ts';

interface TagGroup {
  name: string;
  single: boolean;
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
  const rows = await query(sql).rows`select g.name, g.mode, g.restrict_to_types as types,
       (select coalesce(jsonb_agg(jsonb_build_array(t.name, t.id)), '[]') from tags t
       where t.tag_group_id = g.id) as tags
     from tag_groups g`;
  return new Map(
    rows.map((row: { name: string; mode: string; types: string[] | null; tags: [string, string][] }) => [
      fold(row.name),
      {
        name: row.name,
        single: row.mode === 'single',
        types: row.types && new Set(row.types),
        tags: new Map(row.tags.map(([name, id]) => [fold(name), id])),
        names: row.tags.map(([name]) => name),
      },
    ]),
  );
}

/** The tags that cards of a type can have, as `Group/Tag`. */
const tagNames = (catalogue: TagCatalogue, { key }: CardType): string[] =>
  [...catalogue.values()]
    .filter(({ types }) => !types || types.has(key))
    .flatMap(({ name, names }) => names.map((tag) => `${name}/${tag}`));

/** The ids of the tags that a row names, or its errors; names are compared case-insensitively. */
export function resolveTags(
  catalogue: TagCatalogue,
  type: CardType,
  tags: TagName[],
): { ids: string[]; errors: FieldError[] } {
  const ids = new Set<string>();
  const groups = new Set<TagGroup>();
  const errors: FieldError[] = [];
  const refuse = (code: string, message: string) => errors.push({ field: 'tags', code, message });
  const unknown = ({ group, name }: TagName) => {
    const error = { field: 'tags', code: 'unknown_tag', message: `there is no tag ${group}/${name}` };
    errors.push(unknownChoice(error, `${group}/${name}`, tagNames(catalogue, type)));
  };
  for (const tag of tags) {
    const group = catalogue.get(fold(tag.group));
    const id = group?.tags.get(fold(tag.name));
    if (!group || !id) unknown(tag);
    else if (group.types && !group.types.has(type.key)) {
      refuse('tag_not_allowed', `the tags of ${group.name} are not for cards of the type ${type.key}`);
    } else if (group.single && groups.has(group) && !ids.has(id)) {
      refuse('single_tag', `a card has at most one tag of ${group.name}`);
    } else {
      ids.add(id);
      groups.add(group);
    }
  }
  return { ids: [...ids], errors };
}

/** The ids of the users with the given addresses, by address in lower case. */
export async function readUserIds(sql: Sql, emails: Iterable<string>): Promise<Map<string, string>> {
  const wanted = [...new Set([...emails].map(fold))];
  if (wanted.length === 0) return new Map();
  const rows = await query(sql).rows`select id, lower(email) as email from users
    where lower(email) = any(${wanted}::text[])`;
  return new Map(rows.map((row: { id: string; email: string }) => [row.email, row.id]));
}

/** The stakeholders that a row names, or its errors. */
export function resolveStakeholders(
  users: ReadonlyMap<string, string>,
  type: CardType,
  stakeholders: Stakeholding[],
): { holders: StagedHolder[]; errors: FieldError[] } {
  const holders = new Map<string, StagedHolder>();
  const errors: FieldError[] = [];
  for (const { role, email } of stakeholders) {
    const user_id = users.get(fold(email));
    if (!type.stakeholderRoles.some((definition) => definition.key === role)) {
      const message = `${type.key} has no stakeholder role ${role}`;
      const error = { field: 'stakeholders', code: 'unknown_role', message };
      const roles = type.stakeholderRoles.map(({ key }) => key);
      errors.push(unknownChoice(error, role, roles));
    } else if (!user_id) {
      const message = `there is no user ${email}`;
      errors.push({ field: 'stakeholders', code: 'unknown_user', message, value: shortened(email) });
    } else holders.set(`${role}/${user_id}`, { user_id, role });
  }
  return { holders: [...holders.values()], errors };
}
