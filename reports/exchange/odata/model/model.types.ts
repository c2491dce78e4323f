import type { Fragment } from '../../../../domain/inventory/filters/filters.sql.ts';

/** The primitive types of properties. */
export type EdmType =
  | 'Edm.String'
  | 'Edm.Guid'
  | 'Edm.Double'
  | 'Edm.Decimal'
  | 'Edm.Boolean'
  | 'Edm.Date'
  | 'Edm.DateTimeOffset';

/**
 * How a value becomes JSON: the column of the property's name as an id, text, number or timestamp; a member of a JSON
 * column; or the aggregated tags.
 */
type Shown =
  | { as: 'id' | 'text' | 'number' | 'time' | 'tags' }
  | { as: 'inside'; column: 'attributes' | 'lifecycle'; key: string; form: 'value' | 'date' | 'list' };

export interface ODataProperty {
  name: string;
  type: EdmType;
  /** Whether it is a collection of the type. */
  collection: boolean;
  nullable: boolean;
  /** The label for people. */
  label: string;
  /** The allowed keys with their labels. */
  options: ReadonlyMap<string, string>;
  /**
   * The value as SQL over the alias of an entity, in the type's own SQL type: text, uuid, numeric, boolean, text of a
   * date, timestamptz, and for collections a jsonb array that is never NULL.
   */
  value(alias: string): Fragment;
  shown: Shown;
  /** Whether it is a member of a JSON column, for which PostgreSQL has no statistics. */
  inside?: boolean;
  /** The expression to order by, if that is not the value. */
  order?(alias: string): Fragment;
}

/** How related entities are found. */
export type NavigationPath =
  /** Cards at the other end of a relation type; `from` is this card's end. */
  | { kind: 'related'; relationType: string; from: 'source' | 'target' }
  /** The relations themselves. */
  | { kind: 'relations'; relationType: string; from: 'source' | 'target' }
  | { kind: 'parent' }
  | { kind: 'children' }
  /** The card at one end of a relation. */
  | { kind: 'end'; end: 'source' | 'target' };

export interface Navigation {
  name: string;
  /** Name of the target's entity set and type. */
  target: string;
  collection: boolean;
  nullable: boolean;
  label: string;
  path: NavigationPath;
  /** The inverse navigation property of the target. */
  partner?: string;
}

export interface EntitySet {
  /** Name of the set and of its entity type. */
  name: string;
  kind: 'card' | 'relation';
  /** The key of the card type or relation type. */
  key: string;
  label: string;
  properties: ReadonlyMap<string, ODataProperty>;
  navigations: ReadonlyMap<string, Navigation>;
  /** Names of properties that the caller may not see without `costs.view`. */
  hiddenCosts: ReadonlySet<string>;
  /** Hash of the properties: a delta token is only valid for the same shape. */
  shape: string;
}

/** What one caller may read over OData, at one version of the metamodel. */
export interface ODataModel {
  sets: ReadonlyMap<string, EntitySet>;
  /** Names of sets that exist but that this caller may not read. */
  forbidden: ReadonlySet<string>;
}
