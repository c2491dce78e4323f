import { embed, fragment, query } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { whereClause } from '../../kernel/lists/lists.sql.ts';
import { eolFieldsOf } from '../../kernel/metamodel/eol.fields.ts';
import type { Field, Section, Translations } from '../../kernel/metamodel/metamodel.types.ts';
import { configOf, type Shown } from './portals.commands.ts';
import type { PortalRow } from './portals.model.ts';
import { shownCards } from './portals.scope.ts';
import type { PublicPortal, ShownField, ShownSection } from './portals.types.ts';

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

/** Without weight and whether it is required, which are not public. */
function shownField({ key, label, type, options, translations }: Field): ShownField {
  return { key, label, type, ...(options ? { options } : {}), ...(translations ? { translations } : {}) };
}

/** The tags of shown cards, by group; tags that only other cards have are not public. */
async function usedTags(ctx: Ctx, row: PortalRow): Promise<PublicPortal['tag_groups']> {
  const w = whereClause([fragment`k.tag_id = t.id`, ...(await shownCards(ctx, row))]);
  const [tags] = await query(ctx.db).rows<{
    groups: PublicPortal['tag_groups'];
  }>`select coalesce(json_agg(json_build_object('id', g.id, 'name', g.name, 'tags', used.tags)
       order by lower(g.name), g.id), '[]') as groups
     from (select t.tag_group_id, json_agg(json_build_object('id', t.id, 'name', t.name, 'color', t.color)
             order by t.sort_order, lower(t.name), t.id) as tags
           from tags t where exists (select from card_tags k join cards c on c.id = k.card_id${embed(w)})
           group by t.tag_group_id) used
     join tag_groups g on g.id = used.tag_group_id`;
  return tags!.groups;
}
