import { sha256 } from '../../../platform/crypto.ts';
import { embed, fragment, type Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { type Ctx, matchesEtag } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { compileFilter, type FilterSpec } from './scim.filter.ts';
import { type Projection, projection } from './scim.projection.ts';

/** URNs of the resources (RFC 7643). */
export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';

/** A resource in a response; `meta.version` is its ETag. */
export type ScimResource = Record<string, unknown> & {
  id: string;
  meta: { resourceType: string; created: string; lastModified: string; location: string; version: string };
};

/** A row with the columns of its kind. */
// biome-ignore lint/suspicious/noExplicitAny: the columns are those of the statement
type ResourceRow = Record<string, any>;

/** How resources of one kind are read. */
interface ResourceKind {
  filter: FilterSpec;
  /** The FROM clause, with the condition that selects resources. */
  from: string;
  /** The alias of the row. */
  alias: string;
  /** Columns of the row; `without` names top-level attributes that are not requested. */
  columns(without: ReadonlySet<string>): string;
  resource(row: ResourceRow): ScimResource;
}

const modified = 'greatest(u.updated_at, i.updated_at)';

/** Users without service accounts and erased users. */
export const users: ResourceKind = {
  filter: {
    schema: USER_SCHEMA,
    columns: {
      id: { sql: 'u.id::text', type: 'exact' },
      externalid: { sql: 'i.external_id', type: 'exact' },
      username: { sql: 'coalesce(i.user_name, u.email)', type: 'text' },
      displayname: { sql: 'u.display_name', type: 'text' },
      'name.formatted': { sql: 'u.display_name', type: 'text' },
      'name.givenname': { sql: 'i.given_name', type: 'text' },
      'name.familyname': { sql: 'i.family_name', type: 'text' },
      active: { sql: 'u.is_active', type: 'boolean' },
      emails: { sql: 'u.email', type: 'text' },
      'emails.value': { sql: 'u.email', type: 'text' },
      'emails.type': { sql: `'work'::text`, type: 'text' },
      'emails.primary': { sql: 'true', type: 'boolean' },
      'roles.value': { sql: 'u.role', type: 'exact' },
      roles: { sql: 'u.role', type: 'exact' },
      'meta.created': { sql: 'u.created_at', type: 'time' },
      'meta.lastmodified': { sql: modified, type: 'time' },
      'meta.resourcetype': { sql: `'User'::text`, type: 'exact' },
    },
    multiple: {
      groups: {
        rows: `from scim_group_members gm join scim_groups gg on gg.id = gm.group_id where gm.user_id = u.id`,
        columns: {
          value: { sql: 'gg.id::text', type: 'exact' },
          display: { sql: 'gg.display_name', type: 'text' },
        },
      },
    },
  },
  from: `users u left join scim_identities i on i.user_id = u.id where u.kind = 'person' and u.erased_at is null`,
  alias: 'u',
  columns:
    () => `u.id, u.email, u.display_name, u.is_active, u.role, i.external_id, i.given_name, i.family_name,
    coalesce(i.user_name, u.email) as user_name, utc(u.created_at) as created, utc(${modified}) as modified,
    (select json_agg(json_build_object('value', g.id, '$ref', 'Groups/' || g.id, 'display', g.display_name,
                                       'type', 'direct') order by lower(g.display_name), g.id)
     from scim_group_members m join scim_groups g on g.id = m.group_id where m.user_id = u.id) as groups`,
  resource: (row) => {
    const { given_name, family_name } = row;
    const resource = {
      schemas: [USER_SCHEMA],
      id: row.id,
      ...(row.external_id === null ? {} : { externalId: row.external_id }),
      userName: row.user_name,
      displayName: row.display_name,
      name: {
        formatted: row.display_name,
        ...(given_name === null ? {} : { givenName: given_name }),
        ...(family_name === null ? {} : { familyName: family_name }),
      },
      active: row.is_active,
      emails: [{ value: row.email, type: 'work', primary: true }],
      ...(row.groups === null ? {} : { groups: row.groups }),
      roles: [{ value: row.role, primary: true }],
    };
    const meta = metaOf('User', row);
    const version = `W/"${sha256(JSON.stringify([resource, meta])).slice(0, 27)}"`;
    return { ...resource, meta: { ...meta, version } };
  },
};

export const groups: ResourceKind = {
  filter: {
    schema: GROUP_SCHEMA,
    columns: {
      id: { sql: 'g.id::text', type: 'exact' },
      externalid: { sql: 'g.external_id', type: 'exact' },
      displayname: { sql: 'g.display_name', type: 'text' },
      'meta.created': { sql: 'g.created_at', type: 'time' },
      'meta.lastmodified': { sql: 'g.updated_at', type: 'time' },
      'meta.resourcetype': { sql: `'Group'::text`, type: 'exact' },
    },
    multiple: {
      members: {
        rows: 'from scim_group_members gm join users gu on gu.id = gm.user_id where gm.group_id = g.id',
        columns: {
          value: { sql: 'gm.user_id::text', type: 'exact' },
          display: { sql: 'gu.display_name', type: 'text' },
          type: { sql: `'User'::text`, type: 'text' },
        },
      },
    },
  },
  from: 'scim_groups g where true',
  alias: 'g',
  columns: (without) => `g.id, g.display_name, g.external_id, utc(g.created_at) as created,
    utc(g.updated_at) as modified,
    (extract(epoch from g.updated_at) * 1000000)::bigint || '-' ||
      (select count(*) from scim_group_members m where m.group_id = g.id) as version,
    ${
      without.has('members')
        ? 'null'
        : `(select json_agg(json_build_object('value', u.id, '$ref', 'Users/' || u.id, 'display', u.display_name,
                                              'type', 'User') order by m.id)
            from scim_group_members m join users u on u.id = m.user_id where m.group_id = g.id)`
    } as members`,
  resource: (row) => ({
    schemas: [GROUP_SCHEMA],
    id: row.id,
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    displayName: row.display_name,
    ...(row.members === null ? {} : { members: row.members }),
    meta: { ...metaOf('Group', row), version: `W/"${row.version}"` },
  }),
};

function metaOf(resourceType: 'User' | 'Group', { id, created, modified }: ResourceRow) {
  const meta = { resourceType, created, lastModified: modified };
  // Made absolute in the response.
  return { ...meta, location: `${resourceType}s/${id}` };
}

/** Resources that match all conditions, the oldest first. */
async function readResources(
  sql: Sql,
  kind: ResourceKind,
  conditions: Condition[],
  options: { offset?: number; limit?: number; without?: ReadonlySet<string> } = {},
): Promise<ScimResource[]> {
  const { offset = 0, limit = 1, without = new Set() } = options;
  const { rows } = await sql.raw(
    `select ${kind.columns(without)} from ${kind.from}${conditions.map(({ sql }) => ` and ${sql}`).join('')}
     order by ${kind.alias}.created_at, ${kind.alias}.id offset ? limit ?`,
    [...conditions.flatMap(({ bindings }) => bindings), offset, limit],
  );
  return rows.map((row: ResourceRow) => kind.resource(row));
}

/** The number of resources that match all conditions. */
async function countResources(sql: Sql, kind: ResourceKind, conditions: Condition[]): Promise<number> {
  const { rows } = await sql.raw(
    `select count(*)::integer as total from ${kind.from}${conditions.map(({ sql }) => ` and ${sql}`).join('')}`,
    conditions.flatMap(({ bindings }) => bindings),
  );
  return rows[0].total;
}

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
  const conditions = [fragment`${embed(kind.alias)}.id = ${id}::uuid`];
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
