import {
  cardTypeSeeds,
  germanTexts,
  relationTypeSeeds,
} from '../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import { query, type Sql } from '../../platform/database.ts';

type Translations = Record<string, unknown>;

const LANGUAGE = 'de';
const texts = ['label', 'reverse_label', 'description', 'category', 'section'] as const;
const lists = ['subtypes', 'fields_schema', 'fields', 'options', 'attributes_schema'] as const;

/** Members whose translations can be by language alone. */
const named: ReadonlySet<string> = new Set(['label', 'section']);

/** A part of the metamodel with its texts and the parts in it. */
type Part = { key?: string; translations?: Translations } & Partial<
  Record<(typeof texts)[number], string | null>
>;
type Row = Part & Partial<Record<(typeof lists)[number], Part[]>>;

/**
 * The German texts that a part lacks: of those that are as they were delivered.
 * @param byMember whether translations are by member; those of other parts are of their label alone.
 */
function missing(stored: Part, delivered: Part, byMember: boolean): Translations {
  const { translations = {} } = stored;
  const found: Translations = {};
  for (const member of texts) {
    const text = stored[member];
    const byLanguage = translations[member];
    const known = typeof byLanguage === 'object' && byLanguage !== null ? byLanguage : undefined;
    const isTranslated = LANGUAGE in (known ?? {}) || (named.has(member) && LANGUAGE in translations);
    const own = text && text === delivered[member] && !isTranslated ? germanTexts[text] : undefined;
    if (own === undefined) continue;
    if (byMember || known) found[member] = { ...known, [LANGUAGE]: own };
    else found[LANGUAGE] = own;
  }
  return found;
}

/** A stored part with the German texts that it lacks, also of the parts in it; the same object if it lacks none. */
export function withGerman<T extends Part>(stored: T, delivered: Row, byMember = false): T {
  const added = missing(stored, delivered, byMember);
  const changes: Row = {};
  if (Object.keys(added).length > 0) changes.translations = { ...stored.translations, ...added };
  for (const list of lists) {
    const parts = (stored as Row)[list];
    const known = delivered[list];
    if (!parts || !known) continue;
    // fields can be moved to other sections
    const fields =
      list === 'fields_schema' ? { fields: known.flatMap((section: Row) => section.fields ?? []) } : {};
    const filled = parts.map((part) => {
      const same = known.find(({ key, section }) => key === part.key && section === part.section);
      return same || list === 'fields_schema' ? withGerman(part, { ...same, ...fields }) : part;
    });
    if (filled.some((part, at) => part !== parts[at])) changes[list] = filled;
  }
  return Object.keys(changes).length > 0 ? { ...stored, ...changes } : stored;
}

const keyed = (seeds: readonly Row[], keyOf = (row: Row) => row.key) => {
  const byKey = new Map(seeds.map((seed) => [keyOf(seed), seed]));
  return (row: Row) => byKey.get(keyOf(row));
};

const roles = cardTypeSeeds.flatMap((type) =>
  type.stakeholder_roles.map((role) => ({ ...role, card_type_key: type.key })),
);
const roleKey = (row: Row & { card_type_key?: string }) => `${row.card_type_key} ${row.key}`;

/** Adds German to the texts that were delivered with a workspace and have none. */
export async function addGerman(sql: Sql): Promise<void> {
  await fill(sql, 'card_types', 'key', keyed(cardTypeSeeds));
  await fill(sql, 'relation_types', 'key', keyed(relationTypeSeeds));
  await fill(sql, 'stakeholder_role_definitions', 'id', keyed(roles, roleKey));
  const builtIn = (row: Row & { built_in?: boolean }) => (row.built_in ? row : undefined);
  await fill(sql, 'resource_types', 'id', builtIn, false);
  await fill(sql, 'compliance_regulations', 'id', builtIn, false);
  await query(sql).run`select raise_topics(array['catalogues', 'metamodel'])`;
}

/** Fills the rows of a table for which there is a delivered one. */
async function fill(
  sql: Sql,
  table: string,
  id: string,
  deliveredFor: (row: Row) => Row | undefined,
  byMember = true,
): Promise<void> {
  for (const row of (await sql(table).forUpdate()) as (Row & Record<string, unknown>)[]) {
    const delivered = deliveredFor(row);
    const filled = delivered ? withGerman(row, delivered, byMember) : row;
    const changed = ([...lists, 'translations'] as const).filter((column) => filled[column] !== row[column]);
    if (changed.length === 0) continue;
    await sql(table)
      .where(id, row[id] as string)
      .update(Object.fromEntries(changed.map((column) => [column, JSON.stringify(filled[column])])));
  }
}
