import type { Fragment } from '../../../../domain/inventory/filters/filters.sql.ts';
import type { AppPermission } from '../../../../domain/kernel/permissions/permissions.data.ts';

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
 * How a value becomes JSON: the column of the property's name as an id, text, number or timestamp; the property's value as
 * text; a member of a JSON column; or the aggregated tags.
 */
type Shown =
  | { as: 'id' | 'text' | 'number' | 'time' | 'value' | 'tags' }
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
  /** The card whose id a column has; with `type` only a card of this type. */
  | { kind: 'card'; column: string; type?: string }
  /** The data objects of a data flow. */
  | { kind: 'data_objects' }
  /** The data flows that have the card in a column. */
  | { kind: 'flows'; column: 'source_id' | 'target_id' | 'interface_id' | 'data_object_ids' }
  /** The costs that have the entity's id in a column. */
  | { kind: 'costs'; column: 'card_id' | 'relation_id' };

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
  kind: 'card' | 'relation' | 'data_flow' | 'cost';
  /** The table of its rows. */
  table: 'cards' | 'relations' | 'data_flows' | 'costs';
  /** The key of the card type or relation type; empty for others. */
  key: string;
  label: string;
  properties: ReadonlyMap<string, ODataProperty>;
  navigations: ReadonlyMap<string, Navigation>;
  /** Names of properties and navigations that the caller may not see without `costs.view`. */
  hiddenCosts: ReadonlySet<string>;
  /** Hash of the properties: a delta token is only valid for the same shape. */
  shape: string;
}

/** What one caller may read over OData, at one version of the metamodel. */
export interface ODataModel {
  sets: ReadonlyMap<string, EntitySet>;
  /** Names of sets that exist but that this caller may not read, with the missing permission. */
  forbidden: ReadonlyMap<string, AppPermission>;
}
