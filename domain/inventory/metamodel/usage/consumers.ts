import Type, { type Static } from 'typebox';
import { counted } from '../../../../platform/counted.ts';
import { embed, fragment, query, type Sql } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import type { ConsumerKind, Ctx, Work } from '../../../kernel/context.ts';
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
  content: unknown;
}

/** Rows between which other requests are answered. */
const CHUNK = 500;
/** With more keys, reading every object is faster than searching each for all of them. */
const MAX_KEYS = 20;

/**
 * Reads the objects of all kinds of which `select` returns paths. Objects are parsed at the time of the question, so that the
 * answer is never out of date; only those are that contain one of the keys, or a backslash, with which a key can be written
 * differently.
 * @param keys keys of which every wanted object has one; undefined: all objects are parsed.
 * @param select the wanted paths of an object, from its references as alternatives.
 * @param ownerId only objects of this user.
 */
export async function findConsumers(
  ctx: Ctx,
  sql: Sql,
  metamodel: Metamodel,
  keys: readonly string[] | undefined,
  select: (references: Iterable<readonly string[]>) => string[],
  ownerId?: string,
): Promise<FoundConsumers> {
  const consumers: Consumer[] = [];
  let hidden = 0;
  const seesAll = ctx.caller.permissions === '*' && !ctx.caller.scopes;
  for (const kind of ctx.extensions.consumers) {
    for (const [n, row] of (await storedConsumers(ctx, sql, kind, keys, ownerId)).entries()) {
      if (n % CHUNK === CHUNK - 1) await new Promise(setImmediate);
      const uses = select(kind.references(row.content, metamodel));
      if (uses.length === 0) continue;
      if (row.is_visible || seesAll) consumers.push(consumerOf(row, uses));
      else hidden += 1;
    }
  }
  const place = ({ kind, name, id }: Consumer) => `${kind} ${name.toLowerCase()} ${id}`;
  const sorted = consumers.map((one) => [place(one), one] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return { consumers: sorted.map(([, one]) => one), hidden };
}

async function storedConsumers(
  ctx: Ctx,
  sql: Sql,
  kind: ConsumerKind,
  keys: readonly string[] | undefined,
  ownerId: string | undefined,
): Promise<StoredConsumer[]> {
  const wanted =
    keys && keys.length <= MAX_KEYS
      ? fragment`strpos(x.words, ${'\\\\'}) > 0
          or exists (select from unnest(${[...keys]}::text[]) k where strpos(x.words, k) > 0)`
      : fragment`true`;
  return await query(sql)
    .rows<StoredConsumer>`select x.id, x.kind, x.name, x.owner_id, u.display_name as owner_name,
      utc(x.last_used_at) as last_used_at, x.link, x.is_visible, x.content
    from (select r.*, r.content::text as words from (${embed(kind.rows(ctx))}) r offset 0) x
    left join users u on u.id = x.owner_id
    where (${embed(wanted)})
      and (${ownerId ?? null}::uuid is null or x.owner_id = ${ownerId ?? null}::uuid) order by x.id`;
}

function consumerOf(
  { kind, id, name, owner_id, owner_name, last_used_at, link }: StoredConsumer,
  uses: string[],
): Consumer {
  const owner = owner_id === null ? null : { id: owner_id, display_name: owner_name ?? '' };
  return { kind, id, name, owner, last_used_at, link, uses: uses.slice(0, MAX_USES) };
}

/**
 * Stores the present keys of renamed fields in all objects that can follow.
 * @param keys the former keys.
 */
export async function renameInConsumers(
  ctx: Ctx,
  work: Work,
  metamodel: Metamodel,
  keys: readonly string[],
): Promise<void> {
  for (const kind of ctx.extensions.consumers) {
    if (!kind.write) continue;
    for (const { id, content } of await storedConsumers(ctx, work.sql, kind, keys, undefined)) {
      const before = JSON.stringify(content);
      kind.references(content, metamodel);
      if (JSON.stringify(content) !== before) await kind.write(work, id, content);
    }
  }
}

/** The last part of a path: the key that an object must contain to refer to it. */
export const keyOf = (path: string): string => {
  const [kind, rest = ''] = path.split(/:(.*)/s);
  const dots = kind === 'type' || kind === 'relation_type' ? 0 : kind!.endsWith('option') ? 2 : 1;
  return rest.split('.').slice(dots).join('.');
};

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
  const keys = [...new Set([...broken].map(keyOf))];
  const breaks = (paths: readonly string[]) =>
    paths.every((path) => broken.has(path)) && !paths.every((path) => announced.has(path));
  return await findConsumers(ctx, sql, metamodel, keys, (references) => [
    ...new Set([...references].flatMap((paths) => (breaks(paths) ? paths : []))),
  ]);
}

/** References of stored objects to parts that do not exist, by kind and id. */
export async function danglingReferences(ctx: Ctx, sql: Sql, metamodel: Metamodel): Promise<FoundConsumers> {
  const { signatures } = partsOf(metamodel);
  return await findConsumers(ctx, sql, metamodel, undefined, (references) =>
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
  return new EstateError(
    'in_use',
    `The change breaks ${counted(count, 'consumer')}: ${list}. Change or delete them, or break them with force=true.`,
    { extra: listed(found) },
  );
}
