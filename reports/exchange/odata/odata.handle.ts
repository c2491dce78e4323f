import { recordReads } from '../../../domain/exchange/odata/odata-reads.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { noteParts } from '../../../domain/kernel/metamodel/deprecations.ts';
import { forbidden, may } from '../../../domain/kernel/permissions/policy.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { createUserSemaphore } from '../../../platform/semaphore.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { odataModel } from './model/model.build.ts';
import type { EntitySet, Navigation, ODataModel, ODataProperty } from './model/model.types.ts';
import { presentOptions } from './odata.aliases.ts';
import { columnOf, columnsOf } from './odata.columns.ts';
import { readChanges } from './odata.delta.ts';
import { readEntity, readProperty } from './odata.entity.ts';
import { invalidQuery, notSupported } from './odata.errors.ts';
import { countEntities, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type PageQuery, readPage } from './odata.page.ts';
import { hashQuery, readDeltaToken, readSkipToken } from './odata.tokens.ts';
import type { Wire } from './odata.wire.ts';
import { readOptions, type SentOptions } from './query/query.options.ts';
import { type Expr, type NestedOptions, partsOf } from './query/query.types.ts';

/** A request of a client. */
export interface ODataRequest {
  /** Segments of the path after the service root. */
  parts: (string | undefined)[];
  /** System query options by name with `$`. */
  options: SentOptions;
  /** Parameter aliases by name with `@`. */
  aliases: ReadonlyMap<string, string>;
  wire: Wire;
  /** How many entities a page should have, as the client prefers. */
  maxPageSize: number | undefined;
  trackChanges: boolean;
  /** Aborted when the client has disconnected. */
  signal: AbortSignal;
}

/** Limits concurrent pages, so that connections and memory remain for other requests. */
const withSemaphore = createUserSemaphore({ running: 4, ofOneUser: 2, queued: 20 });

export interface ODataResponse {
  /** The body, perhaps in chunks; undefined for 204. */
  body: string | Buffer[] | undefined;
  kind: 'json' | 'text';
  etag?: string;
  /** The applied preferences. */
  applied: string[];
}

/**
 * Handles a read request: resolves its path and reads the resource.
 * @throws EstateError `not_found`, `odata_invalid_query`, `odata_not_implemented`, `forbidden`, `position_expired`,
 * `too_many_requests`.
 */
export async function handleODataRequest(ctx: Ctx, sent: ODataRequest): Promise<ODataResponse> {
  const model = odataModel(ctx);
  const { options: present, former } = presentOptions(ctx.metamodel, model, sent.parts, sent.options);
  const request = { ...sent, options: present };
  const target = resolveTarget(model, request.parts, request.aliases);
  const options = readOptions(request.options, { texts: request.aliases });
  const response = await readTarget(ctx, model, target, options, request);
  const named = [...namedParts(model, target, options), ...former];
  noteParts(ctx, ctx.metamodel, named);
  // the pages after the first one name the same
  if (request.options.$skiptoken === undefined) await recordReads(ctx, named);
  return response;
}

/** The parts of the metamodel that the request names. */
function namedParts(
  model: ODataModel,
  { set, property, navigation }: Target,
  options: NestedOptions,
): string[] {
  if (property) return [columnOf(set, property.name) ?? []].flat();
  const end = navigation && model.sets.get(navigation.target);
  return columnsOf(model, end ?? set, options);
}

async function readTarget(
  ctx: Ctx,
  model: ODataModel,
  { set: source, key, property, navigation, suffix }: Target,
  options: NestedOptions,
  request: ODataRequest,
): Promise<ODataResponse> {
  const { wire } = request;
  if (property) {
    requireOptions(request.options, allowedOptions.property);
    const found = await readProperty(ctx, { model, set: source, key: key!, property, wire });
    return suffix === '$value'
      ? { body: found?.bare, kind: 'text', applied: [] }
      : { body: found?.json, kind: 'json', applied: [] };
  }
  const via = navigation && { set: source, key: key!, navigation };
  const set = navigation ? model.sets.get(navigation.target)! : source;
  if (suffix === '$count') {
    requireOptions(request.options, allowedOptions.count);
    const count = await countEntities(ctx, { model, set, via, options });
    return { body: String(count), kind: 'text', applied: [] };
  }
  const references = suffix === '$ref';
  if (navigation?.collection ?? key === undefined) {
    if (references) requireOptions(request.options, allowedOptions.references);
    return await readSet(ctx, { model, set, via, options, references }, request);
  }
  requireOptions(request.options, references ? allowedOptions.property : allowedOptions.entity);
  const selected = navigation ? { via } : { key };
  const { text, etag } = await readEntity(ctx, { model, set, ...selected, options, wire, references });
  return { body: text, kind: 'json', applied: [], etag };
}

/** The query options that are allowed for targets other than a set. */
const allowedOptions = {
  entity: ['$select', '$expand', '$format'],
  property: ['$format'],
  count: ['$filter', '$search', '$format'],
  references: ['$filter', '$orderby', '$top', '$skip', '$count', '$skiptoken', '$format'],
};

function requireOptions(sent: SentOptions, taken: string[]): void {
  const other = Object.keys(sent).find((name) => sent[name] !== undefined && !taken.includes(name));
  if (other) throw invalidQuery(other, 'is not allowed for this resource');
}

async function readSet(
  ctx: Ctx,
  selected: Pick<PageQuery, 'model' | 'set' | 'via' | 'options' | 'references'>,
  request: ODataRequest,
): Promise<ODataResponse> {
  const { set, via, options } = selected;
  const { wire, parts } = request;
  const { $skiptoken, $deltatoken, $format: _, ...queryOptions } = request.options;
  if ($skiptoken !== undefined && $deltatoken !== undefined) {
    throw invalidQuery('$deltatoken', 'cannot be sent with $skiptoken');
  }
  const path = parts.filter((part) => part !== undefined).join('/');
  const bound = hashQuery(path, queryOptions, [...request.aliases]);
  const token =
    $skiptoken === undefined ? undefined : readSkipToken($skiptoken, bound, options.orderby.length);
  const trackable = !via && isTrackable(ctx, set, options);
  const pageSize = Math.min(request.maxPageSize ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const applied = request.maxPageSize === undefined ? [] : [`odata.maxpagesize=${pageSize}`];
  const query: PageQuery = {
    ...selected,
    wire,
    pageSize,
    bound,
    token,
    signal: request.signal,
    track: trackable && (request.trackChanges || typeof token?.position === 'number'),
    link: (more) =>
      address(wire.root, path, { ...queryOptions, ...Object.fromEntries(request.aliases), ...more }),
  };
  const changesSince =
    $deltatoken === undefined ? token?.since : readDeltaToken($deltatoken, bound, set.shape).position;
  if (typeof changesSince === 'number') {
    if (options.expand.length > 0)
      throw notSupported('$deltatoken', 'changes cannot be tracked with $expand');
    if (!trackable)
      throw new EstateError(
        'position_expired',
        'Changes of this query can no longer be tracked: read the set again.',
      );
    return { body: await readChanges(ctx, query, changesSince), kind: 'json', applied };
  }
  if (query.track && !token) applied.push('odata.track-changes');
  const body = await withSemaphore(ctx.caller.userId ?? '', async () => {
    request.signal.throwIfAborted();
    return await readPage(ctx, query);
  });
  return { body, kind: 'json', applied };
}

/** A URL of the service with query options. */
function address(root: string, path: string, options: SentOptions): string {
  const pairs = Object.entries(options)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `${root}/${path}?${pairs.join('&')}`;
}

/**
 * Whether changes can be tracked: the change feed must record everything that the response depends on, which it does for
 * the entities' own properties.
 */
function isTrackable(ctx: Ctx, set: EntitySet, options: NestedOptions): boolean {
  if (!may(ctx.caller, 'inventory.view')) return false;
  if (options.expand.length > 0 || options.top !== undefined || options.skip > 0) return false;
  return options.filter === undefined || readsOwnProperties(options.filter, set);
}

/** Whether an expression only reads the entity's own properties, and has the same result at any time. */
const readsOwnProperties = (expr: Expr, { navigations }: EntitySet): boolean =>
  ![...partsOf(expr)].some(
    (part) =>
      ('steps' in part && part.steps.some(({ name }) => navigations.has(name))) ||
      (part.kind === 'call' && part.name === 'now'),
  );

/** The last segment of a path after a set, a property or a navigation property. */
type Suffix = '$count' | '$value' | '$ref';

/** The resource of a path: a set, or with a key an entity, its property or what is related to it. */
interface Target {
  set: EntitySet;
  key?: string;
  property?: ODataProperty;
  navigation?: Navigation;
  suffix?: Suffix;
}

const KEY =
  /^([A-Za-z_]\w*)\(\s*(?:id\s*=\s*)?(?:([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})|(@[A-Za-z_]\w*))\s*\)$/i;

/**
 * Resolves the path segments after the service root (OData URL conventions, 4).
 * @throws EstateError `not_found`, `odata_invalid_query` for a malformed key, `odata_not_implemented`, `forbidden`.
 */
function resolveTarget(
  model: ODataModel,
  [first, second, third]: (string | undefined)[],
  aliases: ReadonlyMap<string, string>,
): Target {
  const name = first!.split('(')[0]!;
  if (name.startsWith('$')) throw notSupported(name, 'is not supported');
  const set = model.sets.get(name);
  if (!set) {
    const missing = model.forbidden.get(name);
    if (missing) throw forbidden(missing);
    throw notFound('entity set', name);
  }
  if (!first!.includes('(')) return resolveInSet(set, second, third);
  const key = keyOf(first!, aliases);
  return second === undefined ? { set, key } : resolveInEntity(set, key, second, third);
}

function keyOf(part: string, aliases: ReadonlyMap<string, string>): string {
  const [, , id, alias] = KEY.exec(part) ?? [];
  const key = (
    id ??
    (alias
      ? aliases
          .get(alias)
          ?.trim()
          .replace(/^'(.*)'$/, '$1')
      : undefined)
  )?.toLowerCase();
  if (key === undefined || !isUuid(key)) throw invalidQuery('key', `"${part}" has no GUID as its key`);
  return key;
}

function resolveInSet(set: EntitySet, second: string | undefined, third: string | undefined): Target {
  if (second === undefined) return { set };
  if (second.toLowerCase() === '$count' && third === undefined) return { set, suffix: '$count' };
  if (second.startsWith('$')) throw notSupported(second, 'is not supported');
  throw notFound('resource', `${set.name}/${second}`);
}

function resolveInEntity(set: EntitySet, key: string, second: string, third: string | undefined): Target {
  const property = set.properties.get(second);
  const navigation = set.navigations.get(second);
  const suffix = third?.toLowerCase();
  if (property) {
    if (third === undefined) return { set, key, property };
    if (suffix === '$value' && !property.collection) return { set, key, property, suffix };
    throw notFound('resource', `${second}/${third}`);
  }
  if (navigation) {
    if (third === undefined) return { set, key, navigation };
    if (suffix === '$ref' || (suffix === '$count' && navigation.collection))
      return { set, key, navigation, suffix };
    const message = 'longer paths are not supported: read the related entity by its own URL';
    throw notSupported(`${second}/${third}`, message);
  }
  if (set.hiddenCosts.has(second)) throw forbidden('costs.view');
  if (second.startsWith('$') || second.includes('.')) throw notSupported(second, 'is not supported');
  throw notFound('resource', `${set.name}/${second}`);
}
