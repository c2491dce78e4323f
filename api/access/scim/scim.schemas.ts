import Type from 'typebox';
import { FilledText, optional, TextUpTo, Timestamp, Uuid } from '../../../domain/kernel/shapes.ts';

const open = { additionalProperties: true } as const;
const Text = Type.String({ maxLength: 4000 });

const Meta = Type.Object({
  resourceType: Type.String({ examples: ['User'] }),
  created: Timestamp,
  lastModified: Timestamp,
  location: Type.String({
    description: 'The URL of the resource',
    examples: ['https://estate.example.org/scim/v2/Users/0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11'],
  }),
  version: Type.String({ examples: ['W/"4JpWkUUzWSMOqWnQVGOsF3dnL2E"'] }),
});

/** The stored members of RFC 7643, 4.1; the query can exclude all except `schemas` and `id`. */
export const ScimUserSchema = Type.Object(
  {
    schemas: Type.Array(Type.String(), { examples: [['urn:ietf:params:scim:schemas:core:2.0:User']] }),
    id: Uuid,
    ...optional({
      externalId: Type.String({ examples: ['00u1a2b3c4d5'] }),
      userName: Type.String({ examples: ['ada@example.org'] }),
      displayName: Type.String({ examples: ['Ada Lovelace'] }),
      name: Type.Object({
        formatted: Type.Optional(Type.String({ examples: ['Ada Lovelace'] })),
        givenName: Type.Optional(Type.String({ examples: ['Ada'] })),
        familyName: Type.Optional(Type.String({ examples: ['Lovelace'] })),
      }),
      active: Type.Boolean(),
      emails: Type.Array(
        Type.Object({
          value: Type.Optional(Type.String({ examples: ['ada@example.org'] })),
          type: Type.Optional(Type.Literal('work')),
          primary: Type.Optional(Type.Literal(true)),
        }),
      ),
      groups: Type.Array(
        Type.Object({
          value: Type.Optional(Uuid),
          display: Type.Optional(Type.String({ examples: ['Architects'] })),
          type: Type.Optional(Type.Literal('direct')),
        }),
      ),
      roles: Type.Array(
        Type.Object({
          value: Type.Optional(Type.String({ examples: ['member'] })),
          primary: Type.Optional(Type.Literal(true)),
        }),
      ),
      meta: Type.Partial(Meta),
    }),
  },
  { $id: 'ScimUser', additionalProperties: false },
);

/** RFC 7643, 4.2. */
export const ScimGroupSchema = Type.Object(
  {
    schemas: Type.Array(Type.String(), { examples: [['urn:ietf:params:scim:schemas:core:2.0:Group']] }),
    id: Uuid,
    externalId: Type.Optional(Type.String({ examples: ['3c5f1f9e-architects'] })),
    displayName: Type.Optional(Type.String({ examples: ['Architects'] })),
    members: Type.Optional(
      Type.Array(
        Type.Object({
          value: Type.Optional(Uuid),
          display: Type.Optional(Type.String({ examples: ['Ada Lovelace'] })),
          type: Type.Optional(Type.Literal('User')),
        }),
      ),
    ),
    meta: Type.Optional(Type.Partial(Meta)),
  },
  { $id: 'ScimGroup', additionalProperties: false },
);

/** RFC 7644, 3.12. */
export const ScimErrorSchema = Type.Object(
  {
    schemas: Type.Array(Type.Literal('urn:ietf:params:scim:api:messages:2.0:Error')),
    status: Type.String({ pattern: '^[45][0-9]{2}$', examples: ['404'] }),
    scimType: Type.Optional(Type.String({ examples: ['invalidFilter'] })),
    detail: Type.String({ examples: ['There is no user 0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11.'] }),
    code: Type.String({ examples: ['not_found'] }),
    request_id: Type.String({ examples: ['nightly-sync-0042'] }),
    permission: Type.Optional(Type.String({ description: 'The permission that is missing' })),
  },
  { $id: 'ScimError' },
);

/** A ListResponse (RFC 7644, 3.4.2). */
export const scimList = (item: Parameters<typeof Type.Array>[0]) =>
  Type.Object({
    schemas: Type.Array(Type.Literal('urn:ietf:params:scim:api:messages:2.0:ListResponse')),
    totalResults: Type.Integer({ minimum: 0, examples: [1] }),
    startIndex: Type.Integer({ minimum: 1, examples: [1] }),
    itemsPerPage: Type.Integer({ minimum: 0, examples: [1] }),
    Resources: Type.Array(item),
  });

/** A description of the service (RFC 7643). */
export const ScimDescription = Type.Object({ schemas: Type.Array(Type.String()) }, open);

const projectionQuery = {
  ...optional({
    attributes: TextUpTo(2000, 'Comma-separated attributes to return'),
    excludedAttributes: TextUpTo(2000, 'Comma-separated attributes to exclude'),
  }),
};

/** The query parameters of operations that return one resource. */
export const ScimProjectionQuery = Type.Object(projectionQuery, { additionalProperties: false });

const listMembers = {
  ...optional({
    filter: FilledText(4000, 'A filter (RFC 7644, 3.4.2.2), such as `userName eq "ada@example.org"`'),
    startIndex: Type.Integer({
      maximum: 1_000_000_000,
      description: 'The 1-based index of the first resource',
    }),
    count: Type.Integer({
      maximum: 1_000_000_000,
      description: 'Maximum number of resources; default 100, at most 200',
    }),
    sortBy: TextUpTo(200, 'Has no effect'),
    sortOrder: TextUpTo(20, 'Has no effect'),
  }),
};

/** The query of a list. */
export const ScimListQuery = Type.Object(
  { ...listMembers, ...projectionQuery },
  { additionalProperties: false },
);

/** A search (RFC 7644, 3.4.3). */
export const ScimSearchBody = Type.Object(
  {
    schemas: Type.Optional(
      Type.Array(Text, { examples: [['urn:ietf:params:scim:api:messages:2.0:SearchRequest']] }),
    ),
    ...listMembers,
    attributes: Type.Optional(Type.Array(Text, { description: 'Attributes to return' })),
    excludedAttributes: Type.Optional(Type.Array(Text, { description: 'Attributes to exclude' })),
  },
  open,
);

/** A resource as clients send it: names in any case, and unknown members. */
export const ScimBody = Type.Object({}, open);

/** The id of a resource; a malformed id gives 404. */
export const ScimIdParams = Type.Object({ id: Text }, { additionalProperties: false });
