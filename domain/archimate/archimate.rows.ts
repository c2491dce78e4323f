import type { FieldError } from '../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { cardTypeOf, relationTypeOf, valuesOf } from './archimate.map.ts';
import type { Model, ModelElement } from './archimate.parse.ts';

/** What is imported of one thing of a model, or why it is not. */
export interface ModelRow {
  kind: 'element' | 'relationship';
  identifier: string;
  name: string;
  /** A row of the import of cards or relations; undefined where there is a fault, or nothing to write. */
  row?: Record<string, unknown>;
  fault?: FieldError;
}

/** Turns a model into rows as the imports of cards and relations take them. */
export function rowsOf(ctx: Ctx, model: Model): { cards: ModelRow[]; relations: ModelRow[] } {
  const types = new Map<string, string>();
  const ids = new Map<string, { id?: string; external_id?: string }>();
  const cards = model.elements.map((element): ModelRow => {
    const { identifier, name } = element;
    const told = valuesOf(element.properties);
    const type = (told.get('type') as string | undefined) ?? cardTypeOf(ctx.metamodel, element.type);
    const place = { kind: 'element' as const, identifier, name };
    if (typeof type !== 'string') {
      const message = `an element of the type ${element.type} stands for no card type`;
      return { ...place, fault: { field: 'type', code: 'unmapped_type', message } };
    }
    types.set(identifier, type);
    const own = told.get('id');
    ids.set(identifier, typeof own === 'string' ? { id: own } : { external_id: identifier });
    return { ...place, row: cardRow(element, type, told) };
  });
  const parents = parentsOf(model, types);
  for (const { identifier, row } of cards) {
    const parent = parents.get(identifier);
    if (!row || parent === undefined || row.parent_id !== undefined) continue;
    const { id, external_id } = ids.get(parent)!;
    Object.assign(row, id ? { parent_id: id } : { parent_external_id: external_id });
  }

  const relations = model.relationships.flatMap((relationship): ModelRow[] => {
    const { identifier, name, source, target } = relationship;
    const place = { kind: 'relationship' as const, identifier, name };
    const told = valuesOf(relationship.properties);
    // a whole above a part of its kind is a parent, which its card's row tells
    if (!told.has('type') && isParent(relationship, types)) return [];
    const [from, to] = [ids.get(source), ids.get(target)];
    if (!from || !to) {
      return [{ ...place, fault: { field: 'source', code: 'unknown_end', message: 'an end is no card' } }];
    }
    const found = told.has('type')
      ? { key: told.get('type'), turned: false }
      : relationTypeOf(ctx.metamodel, types.get(source)!, types.get(target)!);
    if (!found) {
      const message = `no relation type joins ${types.get(source)} and ${types.get(target)}`;
      return [{ ...place, fault: { field: 'type', code: 'unmapped_type', message } }];
    }
    const [a, b] = found.turned ? [to, from] : [from, to];
    const row: Record<string, unknown> = nested(told);
    row.type = found.key;
    Object.assign(row, a.id ? { source_id: a.id } : { source_external_id: a.external_id });
    Object.assign(row, b.id ? { target_id: b.id } : { target_external_id: b.external_id });
    if (relationship.documentation !== null && row.description === undefined) {
      row.description = relationship.documentation;
    }
    return [{ ...place, row }];
  });
  return { cards, relations };
}

function cardRow(element: ModelElement, type: string, told: Map<string, unknown>) {
  const row: Record<string, unknown> = { ...nested(told), type };
  row.name ??= element.name;
  if (element.documentation !== null) row.description ??= element.documentation;
  if (row.id === undefined) row.external_id ??= element.identifier;
  return row;
}

/** `attributes.<key>` and `lifecycle.<phase>` as members of objects, as lines of JSON have them. */
function nested(told: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  const parts: Record<string, [string, unknown][]> = { attributes: [], lifecycle: [] };
  for (const [key, value] of told) {
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

/** The whole of each part, by identifiers; of several the first. */
function parentsOf(model: Model, types: ReadonlyMap<string, string>): Map<string, string> {
  const parents = new Map<string, string>();
  for (const relationship of model.relationships) {
    const { source, target, properties } = relationship;
    if (!properties.has('type') && isParent(relationship, types) && !parents.has(target)) {
      parents.set(target, source);
    }
  }
  return parents;
}
