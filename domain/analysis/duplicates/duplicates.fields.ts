import { query, type Sql } from '../../../platform/database.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';

/** How a field is compared; see the matching library. */
type ComparedKind = 'name' | 'list' | 'text' | 'version' | 'choice' | 'set' | 'number';

/** A value of cards that is compared to find duplicates. */
export interface ComparedField {
  /** `name`, `names`, `description`, `vendor`, `parent`, `subtype`, `relations` or `attributes.<key>`. */
  name: string;
  kind: ComparedKind;
  weight: number;
  without?: string;
}

/** The card type whose cards are vendors. */
export const VENDOR_TYPE = 'Provider';
/** The number of attributes of a kind that are compared. */
const MOST_ATTRIBUTES = 4;
const WEIGHTS = { description: 0.5, relation: 0.5, attribute: 0.25 };

/** The compared fields of the cards of a type. */
export function comparedFields(metamodel: Metamodel, type: CardType): ComparedField[] {
  const hasVendor = vendorRelations(metamodel, type.key).length > 0;
  return [
    // known vendors are also removed from names of types whose cards have no vendor
    { name: 'name', kind: 'name', weight: 1, ...(type.key === VENDOR_TYPE ? {} : { without: 'vendor' }) },
    { name: 'names', kind: 'list', weight: 0.5 },
    { name: 'description', kind: 'text', weight: WEIGHTS.description },
    ...(hasVendor ? [field('vendor', 'name', WEIGHTS.relation)] : []),
    ...(type.has_hierarchy ? [field('parent', 'choice', WEIGHTS.relation)] : []),
    ...(type.subtypes.length > 0 ? [field('subtype', 'choice', WEIGHTS.attribute)] : []),
    field('relations', 'set', WEIGHTS.relation),
    ...attributeFields(type),
  ];
}

const field = (name: string, kind: ComparedKind, weight: number): ComparedField => ({ name, kind, weight });

/** Texts, costs and options, which duplicates often have in common. */
function attributeFields({ fields }: CardType): ComparedField[] {
  const found: ComparedField[] = [];
  const of = (types: readonly string[], kind: ComparedKind) => {
    const some = [...fields.values()].filter(({ type }) => types.includes(type)).slice(0, MOST_ATTRIBUTES);
    for (const { key } of some) {
      const isVersion = kind === 'text' && /version/i.test(key);
      found.push(field(`attributes.${key}`, isVersion ? 'version' : kind, WEIGHTS.attribute));
    }
  };
  of(['text', 'url'], 'text');
  of(['cost'], 'number');
  of(['single_select'], 'choice');
  return found;
}

/** The relation types between cards of the type and vendors. */
export function vendorRelations({ relationTypes }: Metamodel, type: string): string[] {
  if (type === VENDOR_TYPE) return [];
  return [...relationTypes.values()]
    .filter(({ source_type_key: source, target_type_key: target }) =>
      source === VENDOR_TYPE ? target === type : source === type && target === VENDOR_TYPE,
    )
    .map(({ key }) => key);
}

/**
 * Whether a change of the field invalidates a decision. Relations, costs and quantities may change while a card
 * represents the same object.
 */
export const isFact = ({ kind }: ComparedField): boolean => kind !== 'set' && kind !== 'number';

/** The key of the attribute, if the field is one. */
export const attributeOf = (name: string): string | undefined =>
  name.startsWith('attributes.') ? name.slice('attributes.'.length) : undefined;

/** The label of a field of a type. */
export function labelOf({ fields }: Pick<CardType, 'fields'>, name: string): string {
  const key = attributeOf(name);
  return key === undefined ? name : (fields.get(key)?.label ?? key);
}

/** The fields that have a value in some card of the type; comparing others is unnecessary. */
export async function valuedFields(
  sql: Sql,
  type: string,
  fields: readonly ComparedField[],
): Promise<ComparedField[]> {
  const rows = await query(sql).rows`select bool_or(alias is not null) as names,
    bool_or(description is not null) as description,
       bool_or(parent_id is not null) as parent, bool_or(subtype is not null) as subtype,
       array(select distinct k from cards c, jsonb_object_keys(c.attributes) k
         where c.type = ${type} and c.status = 'ACTIVE') as keys
     from cards where type = ${type} and status = 'ACTIVE'`;
  const { keys, ...columns } = rows[0] as { keys: string[] } & Record<string, boolean | null>;
  return fields.filter(({ name }) => {
    const key = attributeOf(name);
    if (key !== undefined) return keys.includes(key);
    return name in columns ? columns[name] === true : true;
  });
}
