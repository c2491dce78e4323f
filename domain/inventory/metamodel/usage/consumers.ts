import Type, { type Static } from 'typebox';
import { counted } from '../../../../platform/counted.ts';
import { embed, fragment, query, type Sql } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import type { ConsumerKind, Ctx, Reference, Work } from '../../../kernel/context.ts';
import type { Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { Count, component, Nullable, object, Timestamp, Uuid } from '../../../kernel/shapes.ts';
import { partsOf } from './parts.ts';

const MAX_USES = 20;

/** A stored object that refers to the metamodel. */
export const ConsumerSchema = component('MetamodelConsumer', {
  kind: Type.String({ examples: ['view', 'extraction_schedule'] }),
  id: Uuid,
  name: Type.String(),
  owner: Nullable(object({ id: Uuid, display_name: Type.String() })),
  last_used_at: Nullable(
    Type.String({
      ...Timestamp,
      description: 'The last run, delivery or answer; null where none is recorded',
    }),
  ),
  link: Type.String({ description: 'Its path in the API' }),
  uses: Type.Array(Type.String(), {
    maxItems: MAX_USES,
    examples: [['field:Application.costTotalAnnual']],
    description: `What it refers to, of what was asked for; at most ${MAX_USES}`,
  }),
});
type Consumer = Static<typeof ConsumerSchema>;

/** The consumers that were found, by kind and name. */
export interface FoundConsumers {
  /** Those that the caller may read. */
  consumers: Consumer[];
  /** The number of others. */
  hidden: number;
}

export const noConsumers: FoundConsumers = { consumers: [], hidden: 0 };

interface StoredConsumer extends Omit<Consumer, 'owner' | 'uses'> {
  owner_id: string | null;
  owner_name: string | null;
  is_visible: boolean;
}

/** Rows between which other requests are answered. */
const CHUNK = 500;

/**
 * Reads the objects of all kinds of which `select` returns paths.
 * @param select the wanted paths of an object, from its references as alternatives.
 * @param ownerId only objects of this user.
 */
export async function findConsumers(
  ctx: Ctx,
  sql: Sql,
  metamodel: Metamodel,
  select: (references: Iterable<Reference>) => string[],
  ownerId?: string,
): Promise<FoundConsumers> {
  const consumers: Consumer[] = [];
  let hidden = 0;
  const seesAll = ctx.caller.permissions === '*' && !ctx.caller.scopes;
  for (const kind of ctx.extensions.consumers) {
    const uses = new Map<string, string[]>();
    for (const [id, references] of await readReferences(ctx, sql, metamodel, kind, ownerId)) {
      const selected = select(references);
      if (selected.length > 0) uses.set(id, selected);
    }
    for (const row of uses.size > 0 ? await storedConsumers(ctx, sql, kind, [...uses.keys()]) : []) {
      if (row.is_visible || seesAll) consumers.push(consumerOf(row, uses.get(row.id)!));
      else hidden += 1;
    }
  }
  const place = ({ kind, name, id }: Consumer) => `${kind} ${name.toLowerCase()} ${id}`;
  const sorted = consumers.map((one) => [place(one), one] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return { consumers: sorted.map(([, one]) => one), hidden };
}

/** What contents refer to in one metamodel, by kind and the hash of the content. */
type Known = Map<ConsumerKind, Map<string, readonly Reference[]>>;
const known = new WeakMap<Metamodel, Known>();

/**
 * The references of all objects of a kind, by id. A content is parsed once for each metamodel; which content an object has is
 * read at the time of the question, so that the answer is never out of date.
 */
async function readReferences(
  ctx: Ctx,
  sql: Sql,
  metamodel: Metamodel,
  kind: ConsumerKind,
  ownerId: string | undefined,
): Promise<Map<string, readonly Reference[]>> {
  const owner = ownerId ?? null;
  const rows = await query(sql).rows<{ id: string; hash: string }>`select x.id, md5(x.content::text) as hash
    from (${embed(kind.rows(ctx))}) x where ${owner}::uuid is null or x.owner_id = ${owner}::uuid`;
  const byKind: Known = known.get(metamodel) ?? new Map();
  known.set(metamodel, byKind);
  const before = byKind.get(kind) ?? new Map<string, readonly Reference[]>();
  // contents that no object has any more are forgotten
  const now = ownerId === undefined ? new Map<string, readonly Reference[]>() : before;
  const missing = new Set(rows.flatMap(({ hash }) => (before.has(hash) ? [] : [hash])));
  const contents = missing.size > 0 ? await readContents(ctx, sql, kind, [...missing]) : new Map();
  const found = new Map<string, readonly Reference[]>();
  for (const [n, { id, hash }] of rows.entries()) {
    let references = before.get(hash) ?? now.get(hash);
    if (!references) {
      if (n % CHUNK === CHUNK - 1) await new Promise(setImmediate);
      references = contents.has(hash) ? [...kind.references(contents.get(hash), metamodel)] : [];
    }
    if (contents.has(hash) || before.has(hash)) now.set(hash, references);
    found.set(id, references);
  }
  byKind.set(kind, now);
  return found;
}

/** With more of them, all contents are read. */
const FEW = 200;

/** Contents of a kind by their hashes. */
async function readContents(
  ctx: Ctx,
  sql: Sql,
  kind: ConsumerKind,
  hashes: readonly string[],
): Promise<Map<string, unknown>> {
  const wanted =
    hashes.length > FEW ? fragment`true` : fragment`md5(x.content::text) = any(${[...hashes]}::text[])`;
  const rows = await query(sql).rows<{
    hash: string;
    content: unknown;
  }>`select md5(x.content::text) as hash, x.content
    from (${embed(kind.rows(ctx))}) x where ${embed(wanted)}`;
  return new Map(rows.map(({ hash, content }) => [hash, content]));
}

async function storedConsumers(
  ctx: Ctx,
  sql: Sql,
  kind: ConsumerKind,
  ids: readonly string[],
): Promise<StoredConsumer[]> {
  return await query(sql)
    .rows<StoredConsumer>`select x.id, x.kind, x.name, x.owner_id, u.display_name as owner_name,
      utc(x.last_used_at) as last_used_at, x.link, x.is_visible
    from (${embed(kind.rows(ctx))}) x left join users u on u.id = x.owner_id
    where x.id = any(${[...ids]}::text[]) order by x.id`;
}

function consumerOf(
  { kind, id, name, owner_id, owner_name, last_used_at, link }: StoredConsumer,
  uses: string[],
): Consumer {
  const owner = owner_id === null ? null : { id: owner_id, display_name: owner_name ?? '' };
  return { kind, id, name, owner, last_used_at, link, uses: uses.slice(0, MAX_USES) };
}

/** Stores the present keys of renamed parts in all objects that can follow. @param except ids of objects that are left out. */
export async function renameInConsumers(
  ctx: Ctx,
  work: Work,
  metamodel: Metamodel,
  except: readonly string[] = [],
): Promise<void> {
  for (const kind of ctx.extensions.consumers) {
    if (!kind.write) continue;
    const rows = await query(work.sql).rows<{ id: string; content: unknown }>`select x.id, x.content
      from (${embed(kind.rows(ctx))}) x where x.id <> all(${[...except]}::text[]) order by x.id`;
    for (const { id, content } of rows) {
      const before = JSON.stringify(content);
      kind.references(content, metamodel);
      if (JSON.stringify(content) !== before) await kind.write(work, id, content);
    }
  }
}

/**
 * The objects that break if parts of the metamodel are taken away: nothing else is left that they refer to.
 * @param announced parts whose removal was announced: an object that only breaks by these does not count.
 */
export async function consumersOf(
  ctx: Ctx,
  sql: Sql,
  metamodel: Metamodel,
  broken: ReadonlySet<string>,
  announced: ReadonlySet<string> = new Set(),
): Promise<FoundConsumers> {
  if ([...broken].every((path) => announced.has(path))) return noConsumers;
  const breaks = (paths: readonly string[]) =>
    paths.every((path) => broken.has(path)) && !paths.every((path) => announced.has(path));
  return await findConsumers(ctx, sql, metamodel, (references) => [
    ...new Set([...references].flatMap((paths) => (breaks(paths) ? paths : []))),
  ]);
}

/** References of stored objects to parts that do not exist, by kind and id. */
export async function danglingReferences(ctx: Ctx, sql: Sql, metamodel: Metamodel): Promise<FoundConsumers> {
  const { signatures } = partsOf(metamodel);
  return await findConsumers(ctx, sql, metamodel, (references) =>
    [...references].flatMap((paths) => (paths.some((path) => signatures.has(path)) ? [] : paths)),
  );
}

const MAX_LISTED = 50;

/** Consumers as changes return them. */
export const brokenConsumers = {
  consumers: Type.Array(ConsumerSchema, {
    maxItems: MAX_LISTED,
    description: `Stored objects that the change breaks; at most ${MAX_LISTED}`,
  }),
  consumer_count: Type.Integer({ ...Count, description: 'All of them, also those that you may not read' }),
  hidden_consumers: Type.Integer({ ...Count, description: 'Those that you may not read' }),
};

export const listed = ({ consumers, hidden }: FoundConsumers) => ({
  consumers: consumers.slice(0, MAX_LISTED),
  consumer_count: consumers.length + hidden,
  hidden_consumers: hidden,
});

export const breaks = ({ consumers, hidden }: FoundConsumers): boolean => consumers.length + hidden > 0;

/** The refusal of a change that breaks consumers. */
export function inUse(found: FoundConsumers): EstateError {
  const names = found.consumers.slice(0, 3).map(({ kind, name }) => `${kind} "${name}"`);
  const count = found.consumers.length + found.hidden;
  const others = count - names.length;
  const list = [...names, ...(others > 0 ? [`${others} more`] : [])].join(', ');
  const which =
    names.length > 0
      ? `: ${list}. Change or delete them`
      : ' that you may not read. Let their owners change them';
  return new EstateError(
    'in_use',
    `The change breaks ${counted(count, 'consumer')}${which}, or break them with force=true.`,
    { extra: listed(found) },
  );
}
