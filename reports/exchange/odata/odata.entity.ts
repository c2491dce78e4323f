import { raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { notFound } from '../../../platform/errors.ts';
import type { EntitySet, ODataModel, ODataProperty } from './model/model.types.ts';
import { contextOf } from './odata.context.ts';
import { itemsOf, readItems } from './odata.items.ts';
import { isThere, selection, type Via } from './odata.page.ts';
import { inSnapshot } from './odata.run.ts';
import type { Wire } from './odata.wire.ts';
import { readOptions } from './query/query.options.ts';
import type { NestedOptions } from './query/query.types.ts';
import { etagOfEntity, tagsJoin } from './sql/sql.entity.ts';
import { createWriting, ROOT } from './sql/sql.ways.ts';

export interface EntityQuestion {
  model: ODataModel;
  set: EntitySet;
  /** The entity's own key, or the way by which it is reached. */
  key?: string;
  via?: Via;
  options: NestedOptions;
  wire: Wire;
  references?: boolean;
}

export interface ReadEntity {
  /** The body; undefined where a way leads nowhere. */
  text: string | undefined;
  etag: string | undefined;
}

/** An entity that is looked for. */
interface Found {
  /** Null where there is none. */
  id: string | null;
  etag: string | null;
  /** Whether the one that leads to it is there. */
  there: boolean;
}

/**
 * One entity.
 * @throws EstateError `not_found` where it, or the one that leads to it, is not there.
 */
export async function readEntity(ctx: Ctx, question: EntityQuestion): Promise<ReadEntity> {
  const { set, key, via, options, wire } = question;
  const found = await findItem(ctx, question);
  if (!found.there) throw notFound(via!.set.name, via!.key);
  if (found.item === undefined) {
    if (!via) throw notFound(set.name, key!);
    return { text: undefined, etag: undefined };
  }
  const context = question.references
    ? contextOf(wire, '$ref')
    : contextOf(wire, set.name, options, '/$entity');
  // what is expanded changes without the entity
  const etag = options.expand.length > 0 || question.references ? null : found.etag;
  return { text: `{${[...context, found.item.slice(1)].join(',')}`, etag: etag ?? undefined };
}

/** Looks for an entity, and makes its JSON at the same moment. */
async function findItem(ctx: Ctx, question: EntityQuestion): Promise<Found & { item: string | undefined }> {
  const { model, set, key, via } = question;
  const writing = createWriting(ctx, model);
  const { from, where } = selection(writing, question);
  const tables = tagsJoin(set, ROOT).reduce((all, join) => sql`${all} ${join}`, from);
  const own = key === undefined ? raw('') : sql` and c.id = ${key}::uuid`;
  const there = via ? isThere(writing, via.set, via.key) : raw('true');
  const finding = sql`select ${there} as there, found.id, found.etag from (select 1) once
    left join lateral (select c.id, ${etagOfEntity(set, ROOT)} as etag from ${tables} where ${where}${own} limit 1) found on true`;
  const items = itemsOf(writing, question);
  return await inSnapshot(ctx, async (snapshot) => {
    const [found] = await snapshot.query<Found>(finding.sql, finding.bindings);
    const { id } = found!;
    const item = id === null ? undefined : Buffer.concat(await readItems(snapshot, items, [id])).toString();
    return { ...found!, item };
  });
}

/**
 * One property's value as JSON text with a context, and bare as text; undefined for none.
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
  const question = { model, set, key, options, wire: { ...wire, metadata: 'none' } as const };
  const { item } = await findItem(ctx, question);
  if (item === undefined) throw notFound(set.name, key);
  // the entity has this one member
  const json = item.slice(`{${JSON.stringify(name)}:`.length, -1);
  if (json === 'null') return undefined;
  const context = contextOf(wire, `${set.name}(${key})/${name}`);
  const bare = json.startsWith('"') ? (JSON.parse(json) as string) : json;
  return { json: `{${[...context, `"value":${json}`].join(',')}}`, bare };
}
