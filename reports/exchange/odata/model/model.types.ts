import type { Fragment } from '../../../../domain/inventory/filters/filters.sql.ts';

/** The primitive types that properties have. */
export type EdmType =
  | 'Edm.String'
  | 'Edm.Guid'
  | 'Edm.Double'
  | 'Edm.Decimal'
  | 'Edm.Boolean'
  | 'Edm.Date'
  | 'Edm.DateTimeOffset';

/**
 * How a value becomes JSON: a column of its own name as an id, a text, a number or a moment; a member of a JSON column; tags,
 * which are gathered.
 */
type Shown =
  | { as: 'id' | 'text' | 'number' | 'time' | 'tags' }
  | { as: 'inside'; column: 'attributes' | 'lifecycle'; key: string; form: 'value' | 'date' | 'list' };

export interface ODataProperty {
  name: string;
  type: EdmType;
  /** Whether it holds several values of the type. */
  collection: boolean;
  nullable: boolean;
  /** How people call it. */
  label: string;
  /** The keys that a value may have, with their labels. */
  options: ReadonlyMap<string, string>;
  /**
   * The value as SQL over the alias of an entity, in the type's own SQL type: text, uuid, numeric, boolean, text of a
   * date, timestamptz, and for collections a jsonb array that is never NULL.
   */
  value(alias: string): Fragment;
  shown: Shown;
  /** Whether it stands inside a JSON column, of whose members PostgreSQL keeps no statistics. */
  inside?: boolean;
  /** What its order is by, where that is not its value. */
  order?(alias: string): Fragment;
}

/** How the entities at the other end are found. */
export type Way =
  /** Cards at the other end of a relation type; `from` is the end on which one stands. */
  | { kind: 'related'; relationType: string; from: 'source' | 'target' }
  /** The relations themselves. */
  | { kind: 'relations'; relationType: string; from: 'source' | 'target' }
  | { kind: 'parent' }
  | { kind: 'children' }
  /** The card at one end of a relation. */
  | { kind: 'end'; end: 'source' | 'target' };

export interface Navigation {
  name: string;
  /** Name of the entity set (and type) that it leads to. */
  target: string;
  collection: boolean;
  nullable: boolean;
  label: string;
  way: Way;
  /** The property of the target that leads back. */
  partner?: string;
}

export interface EntitySet {
  /** Of the set and of its entity type. */
  name: string;
  kind: 'card' | 'relation';
  /** The key of the card type or relation type. */
  key: string;
  label: string;
  properties: ReadonlyMap<string, ODataProperty>;
  navigations: ReadonlyMap<string, Navigation>;
  /** Names of properties that the caller may not see for want of `costs.view`. */
  hiddenCosts: ReadonlySet<string>;
  /** Names what a copy of the set depends on: changes with every change of its properties. */
  shape: string;
}

/** What one caller may read over OData, at one version of the metamodel. */
export interface ODataModel {
  sets: ReadonlyMap<string, EntitySet>;
  /** Names of sets that are there, but not for this caller. */
  forbidden: ReadonlySet<string>;
}
