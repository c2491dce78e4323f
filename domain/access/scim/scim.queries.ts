import type { Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import type { Ctx } from '../../kernel/context.ts';
import { matchesEtag } from '../../kernel/etag.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { compileFilter } from './scim.filter.ts';
import { type Projection, projection } from './scim.projection.ts';
import {
  countResources,
  groups,
  type ResourceKind,
  readResources,
  type ScimResource,
  users,
} from './scim.resources.ts';

/** The kinds of resources by the last segment of their URL. */
const resourceKinds = { Users: users, Groups: groups } as const;
export type ResourceName = keyof typeof resourceKinds;

const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** The maximum and the default number of resources in a response. */
export const MAX_RESULTS = 200;
const DEFAULT_RESULTS = 100;

export interface ScimListParams extends Projection {
  filter?: string | undefined;
  startIndex?: number | undefined;
  count?: number | undefined;
}

/**
 * A page of resources (RFC 7644, 3.4.2).
 * @throws EstateError `forbidden`, `scim_invalid_filter`, `scim_invalid_value`.
 */
export async function listResources(
  ctx: Ctx,
  name: ResourceName,
  params: ScimListParams,
): Promise<Record<string, unknown>> {
  requirePermission(ctx.caller, 'admin.users');
  const kind = resourceKinds[name];
  const cut = projection(params, kind.filter.schema);
  const conditions = params.filter === undefined ? [] : [compileFilter(params.filter, kind.filter)];
  const startIndex = Math.max(params.startIndex ?? 1, 1);
  const limit = Math.min(Math.max(params.count ?? DEFAULT_RESULTS, 0), MAX_RESULTS);
  const totalResults = await countResources(ctx.db, kind, conditions);
  const found =
    limit === 0 || startIndex > totalResults
      ? []
      : await readResources(ctx.db, kind, conditions, {
          offset: startIndex - 1,
          limit,
          without: new Set(cut.shows('members') ? [] : ['members']),
        });
  return {
    schemas: [LIST_SCHEMA],
    totalResults,
    startIndex,
    itemsPerPage: found.length,
    Resources: found.map((resource) => cut.cut(resource)),
  };
}

/** One resource with the requested attributes, and the version of the complete one. */
export interface ShownResource {
  version: string;
  location: string;
  body: Record<string, unknown>;
}

/** @throws EstateError `forbidden`, `not_found`, `scim_invalid_value`. */
export async function readResource(
  ctx: Ctx,
  name: ResourceName,
  id: string,
  params: Projection,
): Promise<ShownResource> {
  requirePermission(ctx.caller, 'admin.users');
  const kind = resourceKinds[name];
  const cut = projection(params, kind.filter.schema);
  const resource = await oneResource(ctx.db, kind, id, !cut.shows('members'));
  const { version, location } = resource.meta;
  return { version, location, body: cut.cut(resource) };
}

/** @throws EstateError `not_found`, also for ids that are not valid. */
export async function oneResource(
  sql: Sql,
  kind: ResourceKind,
  id: string,
  withoutMembers = false,
): Promise<ScimResource> {
  const conditions = [{ sql: `${kind.alias}.id = ?::uuid`, bindings: [id] }];
  const without = new Set(withoutMembers ? ['members'] : []);
  const [found] = isUuid(id) ? await readResources(sql, kind, conditions, { without }) : [];
  if (!found) throw notFound(kind === users ? 'user' : 'group', id);
  return found;
}

/**
 * Compares the request's `If-Match` with the resource read under the command's lock.
 * @throws EstateError `precondition_failed`.
 */
export function checkVersion(ctx: Ctx, { meta }: ScimResource): void {
  if (!ctx.ifMatch || matchesEtag(meta.version, ctx.ifMatch)) return;
  throw new EstateError('precondition_failed', 'The resource has changed since you read it; read it again.', {
    headers: { etag: meta.version },
  });
}
