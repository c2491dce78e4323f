import { setImmediate as breathe } from 'node:timers/promises';
import type { FieldError } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { cardTypeOf, elementType, relationshipType, valuesOf } from './archimate.map.ts';
import type { Model, ModelElement, ModelRelationship } from './archimate.parse.ts';

/** A built-in relation type, and whether its direction is the reverse of the relationship's. */
interface RelationTarget {
  key: string;
  reversed: boolean;
}

const along = (key: string): RelationTarget => ({ key, reversed: false });
const against = (key: string): RelationTarget => ({ key, reversed: true });

const partOfApplication = { 'Application Interface': along('relAppToInterface') };

/**
 * The relation types that correspond to an ArchiMate relationship (ArchiMate 3.2, chapter 5) between two card types, by
 * relationship and "source target". A relationship that is missing here, such as a flow between two applications, has
 * no corresponding relation type.
 */
const relationOf: Readonly<Record<string, Readonly<Record<string, RelationTarget>>>> = {
  Serving: {
    'Application BusinessCapability': along('relAppToBC'),
    'Application BusinessContext': along('relAppToBizCtx'),
    'Application BusinessProcess': against('relProcessToApp'),
    'Application Organization': against('relOrgToApp'),
    'BusinessProcess BusinessCapability': along('relProcessToBC'),
    'BusinessProcess BusinessProcess': against('relProcessDependency'),
    'Interface Application': against('relAppToInterface'),
    'ITComponent Application': against('relAppToITC'),
    'ITComponent BusinessProcess': against('relProcessToITC'),
    'ITComponent Interface': against('relInterfaceToITC'),
  },
  Realization: {
    ...partOfApplication,
    'Application BusinessCapability': along('relAppToBC'),
    'Application BusinessContext': along('relAppToBizCtx'),
    'BusinessProcess BusinessCapability': along('relProcessToBC'),
    'BusinessProcess BusinessContext': along('relProcessToBizCtx'),
    'BusinessProcess Objective': along('relProcessToObjective'),
    'Initiative Application': along('relInitiativeToApp'),
    'Initiative DataObject': along('relInitiativeToDataObj'),
    'Initiative Interface': along('relInitiativeToInterface'),
    'Initiative ITComponent': along('relInitiativeToITC'),
    'Initiative Objective': along('relInitiativeToObjective'),
    'ITComponent Application': against('relAppToITC'),
    'ITComponent Interface': against('relInterfaceToITC'),
  },
  Assignment: {
    ...partOfApplication,
    'ITComponent Application': against('relAppToITC'),
    'Organization BusinessProcess': against('relProcessToOrg'),
  },
  Composition: partOfApplication,
  Aggregation: partOfApplication,
  Access: {
    'Application DataObject': along('relAppToDataObj'),
    'BusinessProcess DataObject': along('relProcessToDataObj'),
    'Interface DataObject': along('relInterfaceToDataObj'),
  },
};

/**
 * The visible relation type that a relationship of another tool becomes, or undefined if that is ambiguous. An
 * Association only says that two elements are related, so it becomes the relation type that connects their card types
 * if there is exactly one.
 */
export function relationTypeOf(
  metamodel: Metamodel,
  relationship: string,
  source: string,
  target: string,
): RelationTarget | undefined {
  if (relationship === 'Association') return onlyRelationType(metamodel, source, target);
  const targets = Object.hasOwn(relationOf, relationship) ? relationOf[relationship]! : {};
  const key = `${source} ${target}`;
  const found = Object.hasOwn(targets, key) ? targets[key]! : undefined;
  return found && metamodel.visibleRelationTypes.includes(found.key) ? found : undefined;
}

function onlyRelationType(metamodel: Metamodel, source: string, target: string): RelationTarget | undefined {
  // For two cards of one type the direction would be ambiguous (successor or predecessor).
  if (source === target) return undefined;
  const joining = metamodel.visibleRelationTypes
    .map((key) => metamodel.relationTypes.get(key)!)
    .flatMap(({ key, source_type_key: from, target_type_key: to }) => {
      if (from === source && to === target) return [along(key)];
      return from === target && to === source ? [against(key)] : [];
    });
  return joining.length === 1 ? joining[0] : undefined;
}

/** Parts of a concept that the resulting cards and relations do not store. */
export interface NotImported {
  /** Names of properties that other tools added. */
  properties?: string[];
  /** The name of a relationship: relations have no name. */
  name?: string;
  /** Number of further languages of its texts. */
  languages?: number;
  /** Its ArchiMate type, if an export would write another one. */
  type?: string;
  /** Names of attributes such as `accessType`. */
  attributes?: string[];
}

/** The imported row of a concept of a model, or why it is not imported. */
export interface ModelRow {
  kind: 'element' | 'relationship';
  identifier: string;
  name: string;
  /** A row of the import of cards or relations; undefined after an error, or if there is nothing to write. */
  row?: Record<string, unknown>;
  error?: FieldError;
  notImported: NotImported;
}

/** Number of concepts after which the event loop may process other requests. */
const STRIDE = 1_000;

async function mapped<T, R>(list: readonly T[], map: (item: T) => R): Promise<R[]> {
  const made: R[] = [];
  for (let from = 0; from < list.length; from += STRIDE) {
    for (const item of list.slice(from, from + STRIDE)) made.push(map(item));
    await breathe();
  }
  return made;
}

/** Converts a model to rows of the imports of cards and relations. */
export async function rowsOf(ctx: Ctx, model: Model): Promise<{ cards: ModelRow[]; relations: ModelRow[] }> {
  const types = new Map<string, string>();
  const ids = new Map<string, { id?: string; external_id?: string }>();
  const cards = await mapped(model.elements, (element): ModelRow => {
    const { identifier, name } = element;
    const values = valuesOf(element.properties);
    const type = (values.get('type') as string | undefined) ?? cardTypeOf(ctx.metamodel, element.type);
    const place = { kind: 'element' as const, identifier, name, notImported: droppedParts(element) };
    if (typeof type !== 'string') {
      const message = `no card type corresponds to an element of the type ${element.type}`;
      return { ...place, error: { field: 'type', code: 'unmapped_type', message } };
    }
    if (elementType(type) !== element.type && !values.has('type')) place.notImported.type = element.type;
    types.set(identifier, type);
    const own = values.get('id');
    ids.set(identifier, typeof own === 'string' ? { id: own } : { external_id: identifier });
    return { ...place, row: cardRow(element, type, values) };
  });
  const parents = parentsOf(model, types);
  for (const { identifier, row } of cards) {
    const parent = parents.get(identifier)?.source;
    if (!row || parent === undefined || row.parent_id !== undefined) continue;
    const { id, external_id } = ids.get(parent)!;
    Object.assign(row, id ? { parent_id: id } : { parent_external_id: external_id });
  }
  const relations = await mapped(model.relationships, (relationship) =>
    relationRow(ctx, relationship, { types, ids, parents }),
  );
  return { cards, relations };
}

/** The elements of a model by their identifiers. */
interface Elements {
  types: ReadonlyMap<string, string>;
  ids: ReadonlyMap<string, { id?: string; external_id?: string }>;
  /** The relationship that makes an element the part of another. */
  parents: ReadonlyMap<string, ModelRelationship>;
}

function relationRow(ctx: Ctx, relationship: ModelRelationship, { types, ids, parents }: Elements): ModelRow {
  const { identifier, name, source, target, type, qualifiers } = relationship;
  const values = valuesOf(relationship.properties);
  const notImported = droppedParts(relationship);
  const place = { kind: 'relationship' as const, identifier, name, notImported };
  const refused = (field: string, code: string, message: string) => ({
    ...place,
    error: { field, code, message },
  });
  if (!values.has('type')) {
    if (name) notImported.name = name;
    if (qualifiers.length > 0) notImported.attributes = qualifiers;
    if (isParent(relationship, types)) {
      // The row of the part's card names the parent.
      if (parents.get(target) === relationship) {
        if (type !== 'Composition') notImported.type = type;
        return place;
      }
      return refused('target', 'second_parent', 'the target is part of another element already');
    }
  }
  const [from, to] = [ids.get(source), ids.get(target)];
  if (!from) return refused('source', 'unknown_end', `"${source}" is no card of this import`);
  if (!to) return refused('target', 'unknown_end', `"${target}" is no card of this import`);
  const [a, b] = [types.get(source)!, types.get(target)!];
  const found = values.has('type')
    ? { key: values.get('type'), reversed: false }
    : relationTypeOf(ctx.metamodel, type, a, b);
  if (!found) {
    return refused('type', 'unmapped_type', `no relation type says what ${type} from ${a} to ${b} says`);
  }
  const exported = relationshipType(String(found.key));
  if (!values.has('type') && (exported !== type || (found.reversed && type !== 'Association'))) {
    notImported.type = type;
  }
  const row: Record<string, unknown> = nested(values);
  row.type = found.key;
  const [first, second] = found.reversed ? [to, from] : [from, to];
  Object.assign(row, first.id ? { source_id: first.id } : { source_external_id: first.external_id });
  Object.assign(row, second.id ? { target_id: second.id } : { target_external_id: second.external_id });
  if (relationship.documentation !== null && row.description === undefined) {
    row.description = relationship.documentation;
  }
  return { ...place, row };
}

/** The parts that are not stored of any concept: properties of other tools, and texts in further languages. */
export function droppedParts({ foreignProperties, languages }: Model['elements'][number]): NotImported {
  return {
    ...(foreignProperties.length > 0 ? { properties: foreignProperties } : {}),
    ...(languages > 0 ? { languages } : {}),
  };
}

function cardRow(element: ModelElement, type: string, values: Map<string, unknown>) {
  const row: Record<string, unknown> = { ...nested(values), type };
  row.name ??= element.name;
  if (element.documentation !== null) row.description ??= element.documentation;
  if (row.id === undefined) row.external_id ??= element.identifier;
  return row;
}

/** `attributes.<key>` and `lifecycle.<phase>` as members of objects, as in lines of NDJSON. */
function nested(values: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  const parts: Record<string, [string, unknown][]> = { attributes: [], lifecycle: [] };
  for (const [key, value] of values) {
    const [, holder, member] = /^(attributes|lifecycle)\.(.+)$/s.exec(key) ?? [];
    if (holder) parts[holder]!.push([member!, value]);
    else row[key] = value;
  }
  for (const [holder, entries] of Object.entries(parts)) {
    if (entries.length > 0) row[holder] = Object.fromEntries(entries);
  }
  return row;
}

function isParent(
  { type, source, target }: { type: string; source: string; target: string },
  types: ReadonlyMap<string, string>,
): boolean {
  if (type !== 'Composition' && type !== 'Aggregation') return false;
  return source !== target && types.has(source) && types.get(source) === types.get(target);
}

/** The relationship that names the whole of each part, by identifiers; the first if there are several. */
function parentsOf(model: Model, types: ReadonlyMap<string, string>): Map<string, ModelRelationship> {
  const parents = new Map<string, ModelRelationship>();
  for (const relationship of model.relationships) {
    const { target, properties } = relationship;
    if (!properties.has('type') && isParent(relationship, types) && !parents.has(target)) {
      parents.set(target, relationship);
    }
  }
  return parents;
}
