import { raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { notFound } from '../../../platform/errors.ts';
import type { EntitySet, ODataModel, ODataProperty } from './model/model.types.ts';
import { contextOf, inSnapshot, prepareItems, readItems } from './odata.items.ts';
import { isVisibleEntity, type NavigationOrigin, selectEntities } from './odata.page.ts';
import type { Wire } from './odata.wire.ts';
import { readOptions } from './query/query.options.ts';
import type { NestedOptions } from './query/query.types.ts';
import { etagOfEntity, tagsJoin } from './sql/sql.entity.ts';
import { createStatement, ROOT } from './sql/sql.navigation.ts';

export interface EntityQuery {
  model: ODataModel;
  set: EntitySet;
  /** The entity's own key; without it, `via` selects the entity. */
  key?: string;
  via?: NavigationOrigin;
  options: NestedOptions;
  wire: Wire;
  references?: boolean;
}

export interface ReadEntity {
  /** The body; undefined if the navigation property is null. */
  text: string | undefined;
  etag: string | undefined;
}

/** Result of the lookup. */
interface Found {
  /** Null if not found. */
  id: string | null;
  etag: string | null;
  /** Whether the source entity of `via` exists. */
  there: boolean;
}

/**
 * Reads one entity.
 * @throws EstateError `not_found` for it or for the source entity of `via`.
 */
export async function readEntity(ctx: Ctx, query: EntityQuery): Promise<ReadEntity> {
  const { set, key, via, options, wire } = query;
  const found = await findItem(ctx, query);
  if (!found.there) throw notFound(via!.set.name, via!.key);
  if (found.item === undefined) {
    if (!via) throw notFound(set.name, key!);
    return { text: undefined, etag: undefined };
  }
  const context = query.references ? contextOf(wire, '$ref') : contextOf(wire, set.name, options, '/$entity');
  // expanded entities change without a change of this entity
  const etag = options.expand.length > 0 || query.references ? null : found.etag;
  return { text: `{${[...context, found.item.slice(1)].join(',')}`, etag: etag ?? undefined };
}

/** Finds an entity and reads its JSON in the same snapshot. */
async function findItem(ctx: Ctx, query: EntityQuery): Promise<Found & { item: string | undefined }> {
  const { model, set, key, via } = query;
  const statement = createStatement(ctx, model);
  const { from, where } = selectEntities(statement, query);
  const tables = tagsJoin(set, ROOT).reduce((all, join) => sql`${all} ${join}`, from);
  const own = key === undefined ? raw('') : sql` and c.id = ${key}::uuid`;
  const there = via ? isVisibleEntity(statement, via.set, via.key) : raw('true');
  const select = sql`select ${there} as there, found.id, found.etag from (select 1) once
    left join lateral (select c.id, ${etagOfEntity(set, ROOT)} as etag from ${tables} where ${where}${own} limit 1) found on true`;
  const items = prepareItems(statement, query);
  return await inSnapshot(ctx, async (snapshot) => {
    const [found] = await snapshot.query<Found>(select.sql, select.bindings);
    const { id } = found!;
    const item = id === null ? undefined : Buffer.concat(await readItems(snapshot, items, [id])).toString();
    return { ...found!, item };
  });
}

/**
 * Reads one property's value as JSON text with a context, and as plain text; undefined for null.
 * @throws EstateError `not_found`.
 */
export async function readProperty(
  ctx: Ctx,
  {
    model,
    set,
    key,
    property,
    wire,
  }: { model: ODataModel; set: EntitySet; key: string; property: ODataProperty; wire: Wire },
): Promise<{ json: string; bare: string } | undefined> {
  const { name } = property;
  const options = readOptions({ $select: name }, { texts: new Map() });
  const query = { model, set, key, options, wire: { ...wire, metadata: 'none' } as const };
  const { item } = await findItem(ctx, query);
  if (item === undefined) throw notFound(set.name, key);
  // the entity was read with this member only
  const json = item.slice(`{${JSON.stringify(name)}:`.length, -1);
  if (json === 'null') return undefined;
  const context = contextOf(wire, `${set.name}(${key})/${name}`);
  const bare = json.startsWith('"') ? (JSON.parse(json) as string) : json;
  return { json: `{${[...context, `"value":${json}`].join(',')}}`, bare };
}
