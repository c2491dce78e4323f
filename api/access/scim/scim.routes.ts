import { isUtf8 } from 'node:buffer';
import Type, { type TSchema } from 'typebox';
import {
  described,
  scimResourceTypes,
  scimSchemas,
  serviceProviderConfig,
  unpagedList,
} from '../../../domain/access/scim/scim.discovery.data.ts';
import {
  createScimGroup,
  deleteScimGroup,
  patchScimGroup,
  replaceScimGroup,
} from '../../../domain/access/scim/scim.groups.commands.ts';
import {
  listResources,
  type ResourceName,
  readResource,
} from '../../../domain/access/scim/scim.resources.ts';
import { searchOf } from '../../../domain/access/scim/scim.search.ts';
import {
  createScimUser,
  deleteScimUser,
  patchScimUser,
  replaceScimUser,
} from '../../../domain/access/scim/scim.users.commands.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { routesOf } from '../../operation.ts';
import { notUtf8 } from '../../plugins/bodies.ts';
import { checkBySchema } from '../../plugins/validation.ts';
import type { App } from '../../types.ts';
import { SCIM_MEDIA_TYPE, sendScim, sendScimResource } from './scim.answer.ts';
import {
  ScimBody,
  ScimDescription,
  ScimErrorSchema,
  ScimGroupSchema,
  ScimIdParams,
  ScimListQuery,
  ScimProjectionQuery,
  ScimSearchBody,
  ScimUserSchema,
  scimList,
} from './scim.schemas.ts';

const common = { tag: 'Provisioning', permission: 'admin.users', format: 'scim' } as const;
const answer = (description: string, schema: TSchema, headers: ('ETag' | 'Location')[] = []) => ({
  description,
  schema,
  mediaType: SCIM_MEDIA_TYPE,
  ...(headers.length > 0 ? { headers } : {}),
});

/** SCIM 2.0 (RFC 7643, RFC 7644): how identity providers create, change and remove accounts. */
export async function registerScimRoutes(root: App): Promise<void> {
  root.addSchema(ScimErrorSchema);
  await root.register(async (app) => {
    checkBySchema(app);
    const parse = app.getDefaultJsonParser('error', 'error');
    app.addContentTypeParser(SCIM_MEDIA_TYPE, { parseAs: 'buffer' }, (request, body, done) => {
      // some clients send a content type without a body
      if (body.length === 0) done(null, undefined);
      else if (!isUtf8(body as Buffer)) done(notUtf8());
      else parse(request, body.toString('utf8'), done);
    });
    registerDiscovery(app);
    registerResources(app, users);
    registerResources(app, groups);
    registerOne(app, users, {
      url: '/scim/v2/Me',
      name: 'Me',
      params: noParams,
      what: 'the own user',
      notes: 'The same as the resource of the token’s user; not for service accounts.',
    });
  });
}

function registerDiscovery(app: App): void {
  const routes = routesOf(app, common);

  routes.get('readScimServiceProviderConfig', '/scim/v2/ServiceProviderConfig', {
    summary: 'Read the supported features of SCIM',
    responses: { 200: { ...answer('The features', ScimDescription) } },
    handler: async ({ reply }) => sendScim(reply, serviceProviderConfig),
  });
  describedList('Schemas', 'schemas', scimSchemas);
  describedList('ResourceTypes', 'types of resources', scimResourceTypes);

  function describedList(name: string, what: string, list: { id: string; schemas: string[] }[]): void {
    const routes = routesOf(app, common);

    routes.get(`listScim${name}`, `/scim/v2/${name}`, {
      summary: `List the ${what} of SCIM`,
      responses: { 200: answer(`The ${what}`, scimList(ScimDescription)) },
      handler: async ({ reply }) => sendScim(reply, unpagedList(list)),
    });
    routes.get(`readScim${name.slice(0, -1)}`, `/scim/v2/${name}/:id`, {
      summary: `Read one of the ${what} of SCIM`,
      params: ScimIdParams,
      responses: { 200: { ...answer('The description', ScimDescription), example: list[0] } },
      handler: async ({ params, reply }) => sendScim(reply, described(list, params.id)),
    });
  }
}

/** What differs between users and groups. */
interface Resources {
  name: ResourceName;
  one: 'User' | 'Group';
  create(ctx: Ctx, body: unknown): Promise<string>;
  replace(ctx: Ctx, id: string, body: unknown): Promise<void>;
  patch(ctx: Ctx, id: string, body: unknown): Promise<void>;
  remove(ctx: Ctx, id: string): Promise<void>;
  example: Record<string, unknown>;
  patchExample: Record<string, unknown>;
  /** The response of PATCH; 204 for resources that can be large. */
  patched: 200 | 204;
  notes: { create: string; remove: string };
}

const users: Resources = {
  name: 'Users',
  one: 'User',
  create: createScimUser,
  replace: replaceScimUser,
  patch: patchScimUser,
  remove: deleteScimUser,
  example: {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'ada@example.org',
    externalId: '00u1a2b3c4d5',
    displayName: 'Ada Lovelace',
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    emails: [{ value: 'ada@example.org', type: 'work', primary: true }],
    active: true,
  },
  patchExample: {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'active', value: false }],
  },
  patched: 200,
  notes: {
    create:
      'The account logs in by single sign-on and has the default role until one of its groups assigns another.',
    remove: 'To only end its logins without deleting the account, set `active` to false instead.',
  },
};

const groups: Resources = {
  name: 'Groups',
  one: 'Group',
  create: createScimGroup,
  replace: replaceScimGroup,
  patch: patchScimGroup,
  remove: deleteScimGroup,
  example: {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    displayName: 'Architects',
    externalId: '3c5f1f9e-architects',
    members: [{ value: '0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11' }],
  },
  patchExample: {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'add', path: 'members', value: [{ value: '0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11' }] }],
  },
  patched: 204,
  notes: {
    create: 'Its members get the role that the settings of single sign-on map to its name or `externalId`.',
    remove: 'Its members retain a role that their other groups assign; otherwise they get the default role.',
  },
};

function registerResources(app: App, kind: Resources): void {
  const routes = routesOf(app, common);

  const { name, one } = kind;
  const url = `/scim/v2/${name}`;
  const thing = one.toLowerCase();
  const schema = one === 'User' ? ScimUserSchema : ScimGroupSchema;
  const changed = answer(`The ${thing}`, schema, ['ETag', 'Location']);

  routes.get(`listScim${name}`, url, {
    summary: `List ${thing}s for a provisioning client`,
    description:
      'Filtering, pagination and attribute selection as in RFC 7644, 3.4.2; `sortBy` has no effect. Oldest first.',
    query: ScimListQuery,
    responses: { 200: answer(`The ${thing}s`, scimList(schema)) },
    errors: ['scim_invalid_filter', 'scim_invalid_value'],
    handler: async ({ ctx, query, reply }) => sendScim(reply, await listResources(ctx, name, query)),
  });

  routes.post(`searchScim${name}`, `${url}/.search`, {
    summary: `Search ${thing}s for a provisioning client`,
    description: 'Like the list, with the parameters in the body (RFC 7644, 3.4.3).',
    body: ScimSearchBody,
    bodyExample: {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
      filter: `${kind.example.userName ? 'userName' : 'displayName'} sw "a"`,
      attributes: ['displayName'],
      startIndex: 1,
      count: 10,
    },
    responses: { 200: answer(`The ${thing}s`, scimList(schema)) },
    errors: ['scim_invalid_filter', 'scim_invalid_value'],
    handler: async ({ ctx, body, reply }) => sendScim(reply, await listResources(ctx, name, searchOf(body))),
  });

  routes.post(`createScim${one}`, url, {
    summary: `Create a ${thing} for a provisioning client`,
    description: kind.notes.create,
    query: ScimProjectionQuery,
    body: ScimBody,
    bodyExample: kind.example,
    responses: { 201: changed },
    errors: [
      'email_taken',
      'scim_invalid_syntax',
      'scim_invalid_value',
      'scim_uniqueness',
      'scim_invalid_path',
      'scim_invalid_filter',
    ],
    handler: async ({ ctx, query, body, reply }) => {
      const id = await kind.create(ctx, body);
      return sendScimResource(reply.code(201), await readResource(ctx, name, id, query));
    },
  });

  registerOne(app, kind, { url: `${url}/:id`, name: one, params: ScimIdParams, what: `a ${thing}` });

  routes.delete(`deleteScim${one}`, `${url}/:id`, {
    summary: `Delete a ${thing} for a provisioning client`,
    description: kind.notes.remove,
    params: ScimIdParams,
    ifMatch: true,
    errors: ['conflict'],
    handler: ({ ctx, params }) => kind.remove(ctx, params.id),
  });
}

/** The path of one resource: by its id, or the caller's own. */
interface Place {
  url: string;
  /** Used in operation ids. */
  name: string;
  params: typeof ScimIdParams | typeof noParams;
  what: string;
  notes?: string;
}

const noParams = Type.Object({}, { additionalProperties: false });
/** The id in the path, or the caller's. */
const idOf = (ctx: Ctx, params: { id?: string }): string => params.id ?? ctx.caller.userId ?? 'Me';

function registerOne(app: App, kind: Resources, place: Place): void {
  const routes = routesOf(app, common);

  const { name, one } = kind;
  const { url, params: paramsSchema, what, notes } = place;
  const described = (...texts: (string | undefined)[]) => {
    const description = [notes, ...texts].filter(Boolean).join(' ');
    return description ? { description } : {};
  };
  const thing = one.toLowerCase();
  const schema = one === 'User' ? ScimUserSchema : ScimGroupSchema;
  const single = answer(`The ${thing}`, schema, ['Location']);
  const changed = answer(`The ${thing}`, schema, ['ETag', 'Location']);

  routes.get(`readScim${place.name}`, url, {
    summary: `Read ${what} for a provisioning client`,
    ...described(),
    params: paramsSchema,
    query: ScimProjectionQuery,
    responses: { 200: single },
    errors: ['scim_invalid_value'],
    handler: async ({ ctx, params, query, reply }) =>
      sendScimResource(reply, await readResource(ctx, name, idOf(ctx, params), query)),
  });

  const writes = [
    'conflict',
    'email_taken',
    'scim_invalid_filter',
    'scim_invalid_path',
    'scim_invalid_syntax',
    'scim_invalid_value',
    'scim_mutability',
    'scim_no_target',
    'scim_uniqueness',
  ] as const;

  routes.put(`replaceScim${place.name}`, url, {
    ifMatch: true,
    summary: `Replace ${what} for a provisioning client`,
    ...described(),
    params: paramsSchema,
    query: ScimProjectionQuery,
    body: ScimBody,
    bodyExample: kind.example,
    responses: { 200: changed },
    errors: [...writes],
    handler: async ({ ctx, params, query, body, reply }) => {
      await kind.replace(ctx, idOf(ctx, params), body);
      return sendScimResource(reply, await readResource(ctx, name, idOf(ctx, params), query));
    },
  });

  routes.patch(`patchScim${place.name}`, url, {
    summary: `Change ${what} for a provisioning client`,
    ...described(
      kind.patched === 204
        ? 'The response is empty unless `attributes` or `excludedAttributes` is sent.'
        : 'Booleans can be sent as strings, and values without a path.',
    ),
    params: paramsSchema,
    query: ScimProjectionQuery,
    body: ScimBody,
    bodyExample: kind.patchExample,
    responses: kind.patched === 204 ? { 200: changed, 204: { description: 'Changed' } } : { 200: changed },
    errors: [...writes],
    handler: async ({ ctx, params, query, body, reply }) => {
      await kind.patch(ctx, idOf(ctx, params), body);
      const asked = query.attributes !== undefined || query.excludedAttributes !== undefined;
      if (kind.patched === 204 && !asked) return reply.code(204).send();
      return sendScimResource(reply, await readResource(ctx, name, idOf(ctx, params), query));
    },
  });
}
