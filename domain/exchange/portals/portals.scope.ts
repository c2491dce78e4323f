import { embed, fragment, query } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { prepareFilter } from '../../inventory/filters/filters.prepare.ts';
import type { Ctx } from '../../kernel/context.ts';
import { whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment } from '../../kernel/lists/lists.types.ts';
import { eolFieldsOf } from '../../kernel/metamodel/eol.fields.ts';
import type { Field, Section, Translations } from '../../kernel/metamodel/metamodel.types.ts';
import { configOf, type Shown, type ShownRelation } from './portals.commands.ts';
import type { PortalRow } from './portals.model.ts';
import type { PublicPortal, ShownField, ShownSection } from './portals.types.ts';

/**
 * The cards that a portal shows, as conditions over the alias `c`. A filter that is no longer valid, or refers to what
 * is now a cost, selects no card: ignoring it would show cards that were excluded deliberately.
 * @param ctx that of the portal's reader.
 */
export async function shownCards(ctx: Ctx, { card_type, filters }: PortalRow): Promise<Condition[]> {
  const conditions: Condition[] = [
    visibleCards(ctx),
    fragment`c.type = ${card_type} and c.status = 'ACTIVE'`,
  ];
  if (filters.subtypes?.length) conditions.push(fragment`c.subtype = any(${filters.subtypes}::text[])`);
  if (filters.tag_ids?.length) conditions.push(tagged(filters.tag_ids));
  if (filters.filter !== undefined) {
    const condition = await prepareFilter(ctx, filters.filter).catch((error: unknown) => {
      if (error instanceof EstateError && [403, 422].includes(error.status)) return fragment`false`;
      throw error;
    });
    if (condition) conditions.push(condition);
  }
  return conditions;
}

/** Cards with one of the tags. */
const tagged = (ids: string[]): Condition => fragment`exists (select from card_tags k
  where k.card_id = c.id and k.tag_id = any(${ids}::uuid[]))`;

type End = 'source_id' | 'target_id';

/**
 * Relations that a portal shows, with the active cards at their other ends: a query of `own` (the id at the portal's end),
 * `type` (of the relation), `direction`, and the other card's `id`, `name`, `name_key` and `other_type`.
 * @param where which relations: a condition over `r`, given the columns at the portal's and at the other end.
 */
export function relatedCards(
  ctx: Ctx,
  relations: readonly ShownRelation[],
  where: (own: End, other: End) => Fragment,
): Fragment {
  const visible = visibleCards(ctx);
  const part = (direction: 'outgoing' | 'incoming', own: End, other: End): Fragment[] => {
    const keys = relations.filter((relation) => relation[direction]).map(({ type }) => type.key);
    if (keys.length === 0) return [];
    const condition = where(own, other);
    // inside, the alias c is the other card, for the usual visibility condition
    const sql = `select r.${own} as own, r.type, '${direction}'::text as direction, o.*
      from relations r join (select c.id, c.name, c.name_key, c.type as other_type from cards c
        where c.status = 'ACTIVE' and (${visible.sql})) o on o.id = r.${other}
      where r.type = any(?::text[]) and (${condition.sql})`;
    return [{ sql, bindings: [...visible.bindings, keys, ...condition.bindings] }];
  };
  const parts = [
    ...part('outgoing', 'source_id', 'target_id'),
    ...part('incoming', 'target_id', 'source_id'),
  ];
  const sql = parts.map(({ sql }) => sql).join(' union all ');
  return { sql, bindings: parts.flatMap(({ bindings }) => bindings) };
}

/** Cards with one of the relations, to one of the other cards if ids are given. */
export function relatedTo(ctx: Ctx, relations: readonly ShownRelation[], ids?: string[]): Condition {
  const related = relatedCards(ctx, relations, (_own, other) =>
    ids === undefined ? fragment`true` : fragment`r.${embed(other)} = any(${ids}::uuid[])`,
  );
  return fragment`c.id in (select x.own from (${embed(related)}) x)`;
}

/**
 * The public definition of a portal, limited to what it shows under the current metamodel.
 * @param ctx that of the portal's reader.
 */
export async function definePortal(ctx: Ctx, row: PortalRow, shown: Shown): Promise<PublicPortal> {
  const { id, name, slug, description, card_type } = row;
  const { type, relations, core, entries } = shown;
  const subtypes = core.has('subtype') ? type.subtypes : [];
  return {
    id,
    name,
    slug,
    description,
    card_type,
    filters: null,
    display_fields: entries,
    card_config: configOf(shown, row.card_config),
    type_info: {
      key: type.key,
      label: type.label,
      icon: type.icon,
      color: type.color,
      fields_schema: shownSections(shown),
      subtypes: subtypes.map(({ key, label, translations = {}, hidden_fields = [] }) => ({
        key,
        label,
        translations,
        hidden_fields: hidden_fields.filter((field) => shown.attributes.has(field)),
      })),
      translations: only(type.translations, 'label'),
    },
    relation_types: [...relations.values()].map(({ type: relation, other }) => ({
      key: relation.key,
      label: relation.label,
      reverse_label: relation.reverse_label,
      source_type_key: relation.source_type_key,
      target_type_key: relation.target_type_key,
      other_type_key: other,
      other_type_label: ctx.metamodel.cardTypes.get(other)!.label,
      translations: only(relation.translations, 'label', 'reverse_label'),
    })),
    tag_groups: core.has('tags') ? await usedTags(ctx, row) : [],
  };
}

/** The translations of what is shown, without those of descriptions and the like. */
function only(translations: Translations, ...members: string[]): Translations {
  return Object.fromEntries(Object.entries(translations).filter(([member]) => members.includes(member)));
}

function shownSections({ type, attributes }: Shown): ShownSection[] {
  const declared = new Set(type.fields_schema.flatMap(({ fields }) => fields.map(({ key }) => key)));
  const undeclared = eolFieldsOf(type.key).filter(({ key }) => !declared.has(key));
  const sections: Section[] = [...type.fields_schema, { section: 'End of life', fields: [...undeclared] }];
  return sections.flatMap(({ section, fields, translations }) => {
    const listed = fields.filter(({ key }) => attributes.has(key)).map(shownField);
    return listed.length === 0
      ? []
      : [{ section, fields: listed, ...(translations ? { translations } : {}) }];
  });
}

/** Without weight, whether it is required, and deprecations, which are not public. */
function shownField({ key, label, type, options, translations }: Field): ShownField {
  const shown = options?.map(({ deprecation: _, ...option }) => option);
  return {
    key,
    label,
    type,
    ...(shown ? { options: shown } : {}),
    ...(translations ? { translations } : {}),
  };
}

/** The tags of shown cards, by group; tags that only other cards have are not public. */
async function usedTags(ctx: Ctx, row: PortalRow): Promise<PublicPortal['tag_groups']> {
  const w = whereClause([fragment`k.tag_id = t.id`, ...(await shownCards(ctx, row))]);
  const [tags] = await query(ctx.db).rows<{ groups: PublicPortal['tag_groups'] }>`
       select coalesce(json_agg(json_build_object('id', g.id, 'name', g.name, 'tags', used.tags)
       order by lower(g.name), g.id), '[]') as groups
     from (select t.tag_group_id, json_agg(json_build_object('id', t.id, 'name', t.name, 'color', t.color)
             order by t.sort_order, lower(t.name), t.id) as tags
           from tags t where exists (select from card_tags k join cards c on c.id = k.card_id${embed(w)})
           group by t.tag_group_id) used
     join tag_groups g on g.id = used.tag_group_id`;
  return tags!.groups;
}
